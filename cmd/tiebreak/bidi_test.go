package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/gorilla/websocket"
)

// A bidi is a connection to a browser by WebDriver BiDi (https://w3c.github.io/webdriver-bidi).
type bidi struct {
	sock *websocket.Conn

	mu      sync.Mutex // guards those below, and writing
	last    int        // id of a command
	pending map[int]chan bidiReply
	faults  []string // that pages reported
	err     error    // why there are no more replies
}

type bidiReply struct {
	Type, Method   string
	ID             int
	Result, Params json.RawMessage
	Error, Message string
}

var bidiAddress = regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`)

// startFirefox starts a headless Firefox, Debian's firefox-esr where there is one, that ends with
// the test.
func startFirefox(t *testing.T) *bidi {
	t.Helper()
	path := ""
	for _, name := range []string{"firefox-esr", "firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	const missing = "no Firefox found: install the package firefox-esr (Debian) or firefox (macOS)"
	if path == "" && os.Getenv("CI") != "" {
		t.Fatal(missing)
	} else if path == "" {
		t.Skip(missing)
	}
	home, err := os.MkdirTemp("", "tiebreak-firefox") //nolint:usetesting // its last processes may still write when the test ends
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	cmd := exec.Command(path, "--headless", "--no-remote", "--profile", home, "--remote-debugging-port", "0")
	cmd.Env = append(os.Environ(), "HOME="+home) // that of another user would be refused
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	address := make(chan string, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if m := bidiAddress.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
				_, _ = io.Copy(io.Discard, stderr) // until it ends
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended; its own processes then end, too
		_ = stderr.Close()
		<-read
		_ = cmd.Wait()
	})
	select {
	case a := <-address:
		return dialBidi(t, a)
	case <-read:
		t.Fatalf("%s ended at once", path)
	case <-time.After(patience):
		t.Fatalf("%s is not up after %v", path, patience)
	}
	return nil
}

func dialBidi(t *testing.T, address string) *bidi {
	t.Helper()
	sock, reply, err := websocket.DefaultDialer.Dial(address+"/session", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close() // empty
	b := &bidi{sock: sock, pending: map[int]chan bidiReply{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.read()
	}()
	t.Cleanup(func() {
		_ = sock.Close()
		<-ended
		for _, fault := range b.faults {
			t.Errorf("the console of Firefox says: %s", fault)
		}
	})
	must.Do(t, b.call("session.new", map[string]any{"capabilities": map[string]any{}}, nil))
	must.Do(t, b.call("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil))
	return b
}

// read hands replies to those who wait for them until the connection ends.
func (b *bidi) read() {
	for {
		var r bidiReply
		err := b.sock.ReadJSON(&r)
		b.mu.Lock()
		switch {
		case err != nil:
			b.err = err
			for _, wait := range b.pending {
				close(wait)
			}
			b.pending = nil
			b.mu.Unlock()
			return
		case r.Type == "event":
			b.note(r.Params)
		case b.pending[r.ID] != nil:
			b.pending[r.ID] <- r
			delete(b.pending, r.ID)
		}
		b.mu.Unlock()
	}
}

// note keeps errors that scripts of pages report.
func (b *bidi) note(entry json.RawMessage) {
	var e struct{ Level, Text, Type string }
	if err := json.Unmarshal(entry, &e); err != nil || e.Level == "error" {
		b.faults = append(b.faults, e.Type+": "+e.Text)
	}
}

// call sends a command and decodes its result into result, unless that is nil.
func (b *bidi) call(method string, params, result any) error {
	wait := make(chan bidiReply, 1)
	b.mu.Lock()
	if b.err != nil {
		b.mu.Unlock()
		return b.err
	}
	b.last++
	id := b.last
	b.pending[id] = wait
	err := b.sock.WriteJSON(map[string]any{"id": id, "method": method, "params": params})
	b.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case r, ok := <-wait:
		if !ok {
			return b.err
		}
		if r.Error != "" {
			return fmt.Errorf("%s: %s: %s", method, r.Error, r.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(r.Result, result)
	case <-time.After(patience):
		return fmt.Errorf("%s: no reply in %v", method, patience)
	}
}
