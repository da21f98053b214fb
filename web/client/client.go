// Package client is an annotator that is a program: it joins a session by an
// annotator's link and speaks the protocol of package wire, as a browser does.
package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
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
	maxClip       = 4 << 20 // bytes
)

// Conn is an annotator's connection. One goroutine may call Recv while another
// calls Send.
type Conn struct {
	http *http.Client
	base *url.URL // of the annotator's page
	ws   *websocket.Conn
	stop func() bool // of the context of Dial
}

// Dial joins the session of an annotator's link, "http://HOST/join/TOKEN", as a
// new annotator and opens a socket. It says nothing on it: begin with a
// *wire.ClientHello. The connection ends when ctx does.
func Dial(ctx context.Context, link string) (*Conn, error) {
	return DialAs(ctx, link, "")
}

// DialAs is Dial with a name for the annotator.
func DialAs(ctx context.Context, link, name string) (*Conn, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	c := &Conn{http: &http.Client{Jar: jar, Timeout: handshakeWait}}
	if err := c.join(ctx, link, name); err != nil {
		return nil, err
	}
	if err := c.connect(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

// join opens the link and starts, as a person would.
func (c *Conn) join(ctx context.Context, link, name string) error {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !strings.HasPrefix(u.Path, "/join/") {
		return idrl.Errorf(idrl.Invalid, "%q is not an annotator link; it looks like http://127.0.0.1:8080/join/TOKEN", link)
	}
	if _, err := c.do(ctx, http.MethodGet, u, nil); err != nil {
		return err
	}
	page, err := c.do(ctx, http.MethodPost, u, url.Values{"name": {name}})
	if err != nil {
		return err
	}
	if !strings.HasSuffix(page.Path, "/label") {
		return fmt.Errorf("join %s: the server led to %s and not to a page for annotators", u.Redacted(), page.Path)
	}
	c.base = page
	return nil
}

// do sends a request and returns where redirects led.
func (c *Conn) do(ctx context.Context, method string, u *url.URL, form url.Values) (*url.URL, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, idrl.Errorf(idrl.Unavailable, "the server does not answer: %v", err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(res.Body, maxMessage)); err != nil {
		return nil, err
	}
	return res.Request.URL, statusError(res)
}

// statusError explains a reply that is not what was asked for.
func statusError(res *http.Response) error {
	switch {
	case res.StatusCode < 400:
		return nil
	case res.StatusCode == http.StatusNotFound:
		return idrl.Errorf(idrl.NotFound, "%s does not exist, was used up, or has expired", res.Request.URL.Path)
	case res.StatusCode == http.StatusForbidden:
		return idrl.Errorf(idrl.Forbidden, "%s is not for this annotator", res.Request.URL.Path)
	case res.StatusCode >= 500:
		return idrl.Errorf(idrl.Unavailable, "the server failed: %s", res.Status)
	}
	return idrl.Errorf(idrl.Invalid, "the server refused: %s", res.Status)
}

// connect opens the socket beside the page.
func (c *Conn) connect(ctx context.Context) error {
	at := *c.base
	at.Path = strings.TrimSuffix(at.Path, "label") + "ws"
	origin := at.Scheme + "://" + at.Host
	at.Scheme = strings.Replace(at.Scheme, "http", "ws", 1)
	dialer := websocket.Dialer{HandshakeTimeout: handshakeWait, Jar: c.http.Jar, Subprotocols: []string{wire.Subprotocol}}
	ws, res, err := dialer.DialContext(ctx, at.String(), http.Header{"Origin": {origin}})
	if err != nil {
		if res != nil && res.StatusCode >= 400 {
			return statusError(res)
		}
		return idrl.Errorf(idrl.Unavailable, "the server does not take the socket: %v", err)
	}
	ws.SetReadLimit(maxMessage)
	c.ws = ws
	c.stop = context.AfterFunc(ctx, func() { ws.Close() })
	return nil
}

// Reconnect opens a new socket for the same annotator. The old one is closed.
func (c *Conn) Reconnect(ctx context.Context) error {
	_ = c.Close() // it may be broken
	return c.connect(ctx)
}

// Send sends a message.
func (c *Conn) Send(m wire.FromClient) error {
	if err := c.ws.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return c.ws.WriteMessage(websocket.TextMessage, wire.Encode(m))
}

// Recv waits for the next message. It returns io.EOF after the server has closed
// the connection in good order, and an error after anything else.
func (c *Conn) Recv() (wire.FromServer, error) {
	_, b, err := c.ws.ReadMessage()
	if websocket.IsCloseError(err, websocket.CloseNormalClosure, websocket.CloseGoingAway) {
		return nil, io.EOF
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
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if err := statusError(res); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxClip+1))
	if err == nil && len(b) > maxClip {
		err = errors.New("the clip is too large")
	}
	return b, err
}

// Close says goodbye and closes the connection.
func (c *Conn) Close() error {
	c.stop()
	frame := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	_ = c.ws.WriteControl(websocket.CloseMessage, frame, time.Now().Add(time.Second)) // the server may be gone
	return c.ws.Close()
}
