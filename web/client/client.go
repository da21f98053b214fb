package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/web/wire"

	"github.com/gorilla/websocket"
)

const (
	handshakeWait = 30 * time.Second
	writeWait     = 10 * time.Second
	maxMessage    = 1 << 20 // bytes of a message from the server
	maxClip       = 8 << 20 // bytes
	maxSaid       = 1 << 10 // bytes of what the server says about an error

	tries    = 8           // of a request that the server asks to repeat later
	tryAgain = time.Second // as the server asks; the wait grows by as much with each attempt
)

// errTooMany is the error of a request that the server asks to repeat later.
var errTooMany = idrl.Errorf(idrl.Unavailable, "the server has too many requests from this address or annotator; try again later")

// Conn is an annotator's connection. One goroutine may call Recv while another
// calls Send.
type Conn struct {
	Agrees bool   // to consent texts that sessions ask for; without it those cannot be joined
	Agreed string // version of the text that was agreed to; empty for none

	http *http.Client
	link *url.URL
	base *url.URL // of the annotator's page; nil before Join
	ws   *websocket.Conn
	stop func() bool // of the context of Reconnect; nil before
}

// New returns a connection by an annotator's link, "http://HOST/join/TOKEN". It has not joined yet,
// and sends nothing to the server.
func New(link string) (*Conn, error) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !strings.HasPrefix(u.Path, "/join/") {
		return nil, idrl.Errorf(idrl.Invalid, "%q is not an annotator link; it looks like http://127.0.0.1:8080/join/TOKEN", link)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &Conn{http: &http.Client{Jar: jar, Timeout: handshakeWait}, link: u}, nil
}

// Dial joins the session of an annotator's link as a new annotator and opens a socket. It sends
// nothing on it: begin with a *wire.ClientHello. The connection ends when ctx does. After an error
// of kind Unavailable it may be called again.
func Dial(ctx context.Context, link string) (*Conn, error) {
	return DialAs(ctx, link, "")
}

// DialAs is Dial with a name for the annotator.
func DialAs(ctx context.Context, link, name string) (*Conn, error) {
	c, err := New(link)
	if err != nil {
		return nil, err
	}
	if err := c.Join(ctx, name); err != nil {
		return nil, err
	}
	if err := c.Reconnect(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// Join opens the link and starts, as a person would, unless it has already. After an error of kind
// Unavailable it may be called again. If the server received the form but its reply was lost, an
// annotator without answers remains on the server.
func (c *Conn) Join(ctx context.Context, name string) error {
	if c.base != nil {
		return nil
	}
	form, err := c.toAgree(ctx, c.link)
	if err != nil {
		return err
	}
	form.Set("name", name)
	page, err := c.do(ctx, http.MethodPost, c.link, form)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(page.Path, "/label") {
		return fmt.Errorf("join %s: the server led to %s and not to a page for annotators", c.link.Redacted(), page.Path)
	}
	c.base = page
	return nil
}

// do sends a request and returns where redirects led.
func (c *Conn) do(ctx context.Context, method string, u *url.URL, form url.Values) (*url.URL, error) {
	res, err := c.request(ctx, method, u, form)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, maxMessage)); err != nil {
		return nil, lost(ctx, err)
	}
	return res.Request.URL, nil
}

// request sends a request and returns its reply if the request succeeded.
func (c *Conn) request(ctx context.Context, method string, u *url.URL, form url.Values) (res *http.Response, err error) {
	err = again(ctx, func() error {
		res, err = c.requestOnce(ctx, method, u, form)
		return err
	})
	return res, err
}

// again calls f until the server no longer asks to repeat the request later.
func again(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if !errors.Is(err, errTooMany) || try == tries {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * tryAgain):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Conn) requestOnce(ctx context.Context, method string, u *url.URL, form url.Values) (*http.Response, error) {
	kind := ""
	if form != nil {
		kind = "application/x-www-form-urlencoded"
	}
	return c.exchange(ctx, method, u, kind, form.Encode())
}

// exchange sends a request with a body of a type, empty for none, and returns its reply if the request succeeded.
func (c *Conn) exchange(ctx context.Context, method string, u *url.URL, kind, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", plainText)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, lost(ctx, err)
	}
	if err := statusError(res); err != nil {
		res.Body.Close()
		return nil, err
	}
	return res, nil
}

// plainText asks the server to send errors as text without a page.
const plainText = "text/plain"

// lost returns the error of a server that cannot be reached, unless the caller gave up.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return idrl.Errorf(idrl.Unavailable, "the server does not answer: %v", err)
}

// statusError explains an unexpected reply, with the server's message if there is one.
func statusError(res *http.Response) error {
	kind := idrl.Invalid
	switch code := res.StatusCode; {
	case code < 400:
		return nil
	case code == http.StatusTooManyRequests:
		return errTooMany
	case code >= 500:
		kind = idrl.Unavailable
	case code == http.StatusNotFound:
		kind = idrl.NotFound
	case code == http.StatusForbidden:
		kind = idrl.Forbidden
	case code == http.StatusConflict:
		kind = idrl.Conflict
	}
	said := res.Status
	if strings.HasPrefix(res.Header.Get("Content-Type"), plainText) {
		if b, err := io.ReadAll(io.LimitReader(res.Body, maxSaid)); err == nil && len(b) > 0 {
			said = strings.TrimSpace(string(b))
		}
	}
	return idrl.Errorf(kind, "the server says: %s", said)
}

// Reconnect opens a socket for the page, after Join. The old one, if there is one, is closed.
func (c *Conn) Reconnect(ctx context.Context) error {
	_ = c.Close() // it may be broken
	return again(ctx, func() error { return c.connect(ctx) })
}

func (c *Conn) connect(ctx context.Context) error {
	at := *c.base
	at.Path = strings.TrimSuffix(at.Path, "label") + "ws"
	origin := at.Scheme + "://" + at.Host
	at.Scheme = strings.Replace(at.Scheme, "http", "ws", 1)
	dialer := websocket.Dialer{HandshakeTimeout: handshakeWait, Jar: c.http.Jar, Subprotocols: []string{wire.Subprotocol}}
	ws, res, err := dialer.DialContext(ctx, at.String(), http.Header{"Origin": {origin}, "Accept": {plainText}})
	if err != nil {
		if res != nil && res.StatusCode >= 400 {
			return statusError(res)
		}
		return lost(ctx, err)
	}
	ws.SetReadLimit(maxMessage)
	c.ws = ws
	c.stop = context.AfterFunc(ctx, func() { ws.Close() })
	return nil
}

// Tab opens another socket of the same annotator, as another tab of the browser would.
func (c *Conn) Tab(ctx context.Context) (*Conn, error) {
	tab := &Conn{http: c.http, base: c.base}
	if err := tab.connect(ctx); err != nil {
		return nil, err
	}
	return tab, nil
}

// Base returns the address of the annotator's page, nil before Join.
func (c *Conn) Base() *url.URL { return c.base }

// Send sends a message.
func (c *Conn) Send(m wire.FromClient) error {
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, wire.Encode(m))
}

// Recv waits for the next message. It returns io.EOF after the server has closed the connection
// normally, and another error otherwise.
func (c *Conn) Recv() (wire.FromServer, error) { return c.RecvBy(time.Time{}) }

// RecvBy is Recv that waits only until a time, or without limit if it is zero. After that its error
// is os.ErrDeadlineExceeded, and the connection can only be used again after Reconnect.
func (c *Conn) RecvBy(limit time.Time) (wire.FromServer, error) {
	if err := c.ws.SetReadDeadline(limit); err != nil {
		return nil, err
	}
	_, b, err := c.ws.ReadMessage()
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
		return nil, io.EOF
	}
	if wait := net.Error(nil); errors.As(err, &wait) && wait.Timeout() { // the library hides which error it was
		return nil, os.ErrDeadlineExceeded
	}
	if err != nil {
		return nil, err
	}
	return wire.DecodeServer(b)
}

// Clip fetches a clip of a question by its URL there.
func (c *Conn) Clip(ctx context.Context, path string) ([]byte, error) {
	u, err := c.base.Parse(path)
	if err != nil {
		return nil, err
	}
	res, err := c.request(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxClip+1))
	if err != nil {
		return nil, lost(ctx, err)
	}
	if len(b) > maxClip {
		return nil, errors.New("the clip is too large")
	}
	return b, nil
}

// Close sends a close message and closes the socket, if there is one.
func (c *Conn) Close() error {
	if c.ws == nil {
		return nil
	}
	c.stop()
	frame := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.ws.WriteControl(websocket.CloseMessage, frame, time.Now().Add(time.Second)) // the server may have stopped
	return c.ws.Close()
}
