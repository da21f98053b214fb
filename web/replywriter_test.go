package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
	"tiebreak/web"
)

// longReplies are data whose export is larger than all buffers on the way to a client.
type longReplies struct {
	web.Exports
	web.Clips
	db **store.DB
}

const longReply = 64 << 20 // bytes

// WriteBundle writes from one read of the database, as that of the program does.
func (l longReplies) WriteBundle(ctx context.Context, id idrl.SessionID, w io.Writer, _ bundle.Options) error {
	return (*l.db).Read(ctx, id, func(*store.Reading) error {
		for range longReply >> 20 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return err
			}
		}
		return nil
	})
}

// WriteLabels is never called.
func (l longReplies) WriteLabels(context.Context, idrl.SessionID, io.Writer, float64) error {
	return errors.New("no labels")
}

func (l longReplies) Rows(ctx context.Context, id idrl.SessionID, yield func(record.Labelled) error) error {
	return l.Exports.Rows(ctx, id, func(row record.Labelled) error {
		for range longReply >> 8 { // a row has more than 256 bytes
			if err := yield(row); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l longReplies) ClipMedia(context.Context, idrl.SessionID, idrl.ClipID) ([]byte, error) {
	return make([]byte, longReply), nil
}

// A client that does not read a long reply is cut off: others have their exports, and what a
// person withdraws leaves the files of the database.
func TestReplyThatNobodyReads(t *testing.T) {
	for name, path := range map[string]string{
		"bundle": "/export?format=bundle", "lines": "/export?format=jsonl", "table": "/export?format=csv", "clip": "/clips/c1",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var db *store.DB
			b := newBench(t, func(c *web.Config) {
				long := longReplies{c.Exports, c.Clips, &db}
				c.Exports, c.Clips, c.Bundles = long, long, long
			})
			db = b.db
			web.ReplyWait(b.web, 100*time.Millisecond)
			b.annotator("s1")
			b.record()
			conn := b.ask(b.url, b.token(identity.ScopeRead, "s1"), "/s1"+path)
			if _, err := conn.Read(make([]byte, 1)); err != nil { // the reply has begun
				t.Fatal(err)
			}
			b.logs.wait(t, "broken off")
			web.Bundling(b.web)()
			must.Get(db.Withdraw(t.Context(), "s1", "a1", "a1", time.Now()))(t)
			if left, err := db.Meta(t.Context(), "scrub"); left != "" || err != nil {
				t.Errorf("what was withdrawn is in the files still: %q, %v", left, err)
			}
		})
	}
}

// A client that reads slowly has all of a reply, whatever time that takes in all.
func TestReplyThatIsReadSlowly(t *testing.T) {
	media := strings.Repeat("media", 200_000)
	b := newBench(t, func(c *web.Config) { c.Clips = slowClips{c.Clips, media} })
	const wait = time.Second
	web.ReplyWait(b.web, wait)
	small := httptest.NewUnstartedServer(b.web) // small buffers, which are soon full
	small.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(16 << 10); err != nil {
			t.Error(err)
		}
		return ctx
	}
	small.Start()
	defer small.Close()
	began := time.Now()
	conn := b.ask(small.URL, b.token(identity.ScopeRead, "s1"), "/s1/clips/c1")
	must.Do(t, conn.SetReadBuffer(16<<10))
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	slow := readerFunc(func(p []byte) (int, error) {
		<-pace.C
		return conn.Read(p[:min(len(p), 16<<10)])
	})
	res, err := http.ReadResponse(bufio.NewReader(slow), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if took := time.Since(began); err != nil || string(got) != media || took < wait {
		t.Errorf("%d of %d bytes in %v, %v", len(got), len(media), took, err)
	}
}

type slowClips struct {
	web.Clips
	media string
}

func (s slowClips) ClipMedia(context.Context, idrl.SessionID, idrl.ClipID) ([]byte, error) {
	return []byte(s.media), nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// ask asks for something of a session as a program does that reads no reply by itself.
func (b *bench) ask(url, token, path string) *net.TCPConn {
	b.t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET /api/v1/sessions%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", path, host, token)
	return conn.(*net.TCPConn)
}
