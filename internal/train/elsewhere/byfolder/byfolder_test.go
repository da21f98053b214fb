package byfolder_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byfolder"
	"tiebreak/internal/train/elsewhere/carriertest"
)

const quick = 2 * time.Millisecond

func open(t testing.TB, config byfolder.Config) *byfolder.Carrier {
	t.Helper()
	c := must.Get(byfolder.Open(config))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return c
}

func receive(t testing.TB, c *byfolder.Carrier, pattern string) <-chan elsewhere.Message {
	t.Helper()
	from := must.Get(c.Receive(t.Context(), pattern))(t)
	return from
}

func TestContract(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprint("shared ", shared), func(t *testing.T) {
			carriertest.Run(t, func(t *testing.T) (server, worker elsewhere.Carrier) {
				dir := t.TempDir()
				must.Do(t, os.Chmod(dir, 0o770))
				config := byfolder.Config{Dir: dir, Poll: quick, Shared: shared}
				return open(t, config), open(t, config)
			})
		})
	}
}

// A log keeps what is written to it.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) count(of string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), of)
}

func nameOf(subject string, number int) string {
	sum := sha256.Sum256([]byte(subject))
	return fmt.Sprintf("%s-%020d-%016x", hex.EncodeToString(sum[:16]), number, 1)
}

// What is in the place of a file of messages, and is none, is neither waited for nor handed over, and is logged once.
func TestHostileFiles(t *testing.T) {
	const subject = "from.w1.s.l"
	for name, make := range map[string]func(path string) error{
		"garbage":   func(path string) error { return os.WriteFile(path, []byte("garbage"), 0o600) },
		"empty":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"link":      func(path string) error { return os.Symlink("/etc/passwd", path) },
		"dead link": func(path string) error { return os.Symlink("/nonexistent", path) },
		"folder":    func(path string) error { return os.Mkdir(path, 0o700) },
		"FIFO":      fifo,
		"large": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 10<<30)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, said := t.TempDir(), &log{}
			server := open(t, byfolder.Config{Dir: dir, Poll: quick, Log: slog.New(slog.NewTextHandler(said, nil))})
			worker := open(t, byfolder.Config{Dir: dir, Poll: quick})
			up := receive(t, server, "from.>")
			must.Do(t, make(filepath.Join(dir, "sent", "from", nameOf(subject, 1))))
			must.Do(t, make(filepath.Join(dir, "sent", "from", "odd")))
			for k := range 3 {
				must.Do(t, worker.Send(t.Context(), subject, fmt.Append(nil, k)))
				if got := waittest.For(t, up, "a message"); string(got.Data) != fmt.Sprint(k) {
					t.Errorf("received %q", got.Data)
				}
			}
			if n := said.count("is left out"); n != 2 {
				t.Errorf("%d lines say that two files are left out", n)
			}
			blob := []byte("blob")
			sum := sha256.Sum256(blob)
			must.Do(t, make(filepath.Join(dir, "blobs", hex.EncodeToString(sum[:]))))
			if _, err := server.Get(t.Context(), sum); idrl.KindOf(err) != idrl.Damaged && idrl.KindOf(err) != idrl.NotFound {
				t.Errorf("in place of a blob: %v", err)
			}
			_, err := server.Put(t.Context(), blob) // in place of what is damaged
			must.Do(t, err)
			got, err := worker.Get(t.Context(), sum)
			must.Do(t, err)
			if string(got) != "blob" {
				t.Errorf("read %q", got)
			}
		})
	}
}

// FIFOs and links in place of the folder of messages do not hang a reader.
func TestHostileFolders(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"FIFO": fifo,
		"link": func(path string) error { return os.Symlink(os.TempDir(), path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c := open(t, byfolder.Config{Dir: dir, Poll: quick})
			must.Do(t, make(filepath.Join(dir, "sent", "from")))
			if _, err := c.Receive(t.Context(), "from.>"); err == nil {
				t.Error("messages are received from it")
			}
			if err := c.Send(t.Context(), "from.w1.s.l", nil); err == nil {
				t.Error("a message was sent into it")
			}
		})
	}
}

// A file that has lost its end, or one byte of which has changed, is not handed over.
func TestTornFiles(t *testing.T) {
	dir := t.TempDir()
	worker := open(t, byfolder.Config{Dir: dir, Poll: quick})
	must.Do(t, worker.Send(t.Context(), "from.w1.s.l", []byte("whole")))
	files, err := filepath.Glob(filepath.Join(dir, "sent", "from", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	whole, err := os.ReadFile(files[0])
	must.Do(t, err)
	server := open(t, byfolder.Config{Dir: dir, Poll: quick})
	up := receive(t, server, "from.>")
	for k := range whole { // as later files of the stream
		torn := append(bytes.Clone(whole[:k]), whole[k]^1)
		must.Do(t, os.WriteFile(filepath.Join(dir, "sent", "from", nameOf("from.w1.s.l", 2*k+1)), whole[:k], 0o600))
		torn = append(torn, whole[k+1:]...)
		must.Do(t, os.WriteFile(filepath.Join(dir, "sent", "from", nameOf("from.w1.s.l", 2*k+2)), torn, 0o600))
	}
	must.Do(t, worker.Send(t.Context(), "from.w1.s.l", []byte("end")))
	if got := waittest.For(t, up, "the message after torn files"); string(got.Data) != "end" {
		t.Errorf("received %q", got.Data)
	}
}

func TestFolderIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "workers")
	server, worker := open(t, byfolder.Config{Dir: dir, Poll: quick}), open(t, byfolder.Config{Dir: dir, Poll: quick})
	up := receive(t, server, "from.>")
	must.Do(t, worker.Send(t.Context(), "from.w1.s.l", []byte("before")))
	waittest.For(t, up, "the message before")
	err := os.RemoveAll(dir)
	for tries := 0; err != nil && tries < 1000; tries++ { // a reader can make a folder in it again meanwhile
		err = os.RemoveAll(dir)
	}
	must.Do(t, err)
	if err := worker.Send(t.Context(), "from.w1.s.l", nil); idrl.KindOf(err) != idrl.Unavailable {
		t.Errorf("sent into a folder that is gone: %v", err)
	}
	must.Do(t, os.Mkdir(dir, 0o700))
	must.Do(t, worker.Send(t.Context(), "from.w1.s.l", []byte("after")))
	if got := waittest.For(t, up, "the message after"); string(got.Data) != "after" {
		t.Errorf("received %q", got.Data)
	}
}

func TestFull(t *testing.T) {
	dir := t.TempDir()
	config := byfolder.Config{Dir: dir, Poll: quick, MaxBytes: 300 << 10}
	server, worker := open(t, config), open(t, config)
	message := make([]byte, elsewhere.MaxMessage)
	must.Do(t, worker.Send(t.Context(), "from.w1.s.l", message))
	must.Do(t, worker.Send(t.Context(), "from.w1.s.l", message))
	err := worker.Send(t.Context(), "from.w1.s.l", message)
	if idrl.KindOf(err) != idrl.Unavailable || !strings.Contains(err.Error(), "full") {
		t.Errorf("sent into a full folder: %v", err)
	}
	if _, err := server.Put(t.Context(), message); idrl.KindOf(err) != idrl.Unavailable || !strings.Contains(err.Error(), "full") {
		t.Errorf("put into a full folder: %v", err)
	}
	receive(t, server, "from.>") // deletes what is there
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for worker.Send(t.Context(), "from.w1.s.l", message) != nil && t.Context().Err() == nil {
			time.Sleep(quick)
		}
	}()
	waittest.For(t, sent, "room")
}

func TestRefusedFolders(t *testing.T) {
	for name, test := range map[string]struct {
		make func(dir string) error
		want string
	}{
		"newer version": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "tiebreak-workers.json"), []byte(`{"format":"tiebreak-workers","version":2}`), 0o600)
		}, "has version 2 of the format"},
		"other file":    {func(dir string) error { return os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600) }, "thesis.tex"},
		"for everybody": {func(dir string) error { return os.Chmod(dir, 0o777) }, "chmod o-w"},
		"no folder":     {func(dir string) error { return os.Remove(dir) }, ""},
		"link":          {func(dir string) error { return os.Symlink(os.TempDir(), filepath.Join(dir, "sent")) }, "is not a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a")
			must.Do(t, os.Mkdir(dir, 0o700))
			must.Do(t, test.make(dir))
			c, err := byfolder.Open(byfolder.Config{Dir: dir})
			if err == nil {
				must.Do(t, c.Close())
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// Messages that nobody receives and blobs that nobody uses are removed, by the clock of who observes them.
func TestOldFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c, err := byfolder.Open(byfolder.Config{Dir: dir})
		must.Do(t, err)
		must.Do(t, c.Send(t.Context(), "from.w1.s.l", nil))
		name, err := c.Put(t.Context(), []byte("blob"))
		must.Do(t, err)
		left := func(kind string) int {
			files := must.Get(filepath.Glob(filepath.Join(dir, kind)))(t)
			return len(files)
		}
		time.Sleep(9 * time.Minute)
		if left("sent/from/*") != 1 {
			t.Error("a message is removed early")
		}
		time.Sleep(2 * time.Minute)
		if left("sent/from/*") != 0 {
			t.Error("an old message is left")
		}
		time.Sleep(60 * time.Minute)
		_, err = c.Get(t.Context(), name) // is used
		must.Do(t, err)
		time.Sleep(60 * time.Minute)
		if left("blobs/*") != 1 {
			t.Error("a blob is removed that was used")
		}
		time.Sleep(60 * time.Minute)
		if left("blobs/*") != 0 {
			t.Error("an old blob is left")
		}
		must.Do(t, c.Close())
	})
}

// BenchmarkRoundTrip has a message come back, between two carriers at the usual interval.
func BenchmarkRoundTrip(b *testing.B) {
	for _, workers := range []int{1, 100} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			dir := b.TempDir()
			server, worker := open(b, byfolder.Config{Dir: dir}), open(b, byfolder.Config{Dir: dir})
			for k := range workers {
				must.Do(b, worker.Tell(b.Context(), fmt.Sprintf("offers.w%d", k), nil))
				must.Do(b, server.Send(b.Context(), fmt.Sprintf("to.w%d.s.l", k), nil))
			}
			up, down := receive(b, server, "from.*.s.>"), receive(b, worker, "to.w1.>")
			for b.Loop() {
				must.Do(b, server.Send(b.Context(), "to.w1.s.l", nil))
				<-down
				must.Do(b, worker.Send(b.Context(), "from.w1.s.l", nil))
				<-up
			}
		})
	}
}
