package byfolder

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// A Config configures a carrier.
type Config struct {
	Dir      string        // the folder; required. It is made if the folder above it is there
	Poll     time.Duration // between two looks into the folder; 100 ms if 0. Up to 1 s while nothing comes or is sent
	MaxBytes int64         // that messages and blobs may have together, about; 4 GiB if 0
	Shared   bool          // the group of the folder may write, for servers and workers of several users
	Log      *slog.Logger  // none if nil
}

// slowest is how long a reader waits while nothing comes.
const slowest = time.Second

// A Carrier carries messages by files of a folder.
type Carrier struct {
	folder folder
	poll   time.Duration
	log    *slog.Logger
	usage  usage

	ctx  context.Context // ends with Close; of the goroutines that the carrier starts
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex // guards what follows
	closed  bool
	outs    map[string]*outbox // by folder and subject
	poked   chan struct{}      // closed when something is sent
	odd     map[string]bool    // files of which a line of the log has said that they are left out
	lastBad string
}

var _ elsewhere.Carrier = (*Carrier)(nil)

// Open opens a folder. It returns an error of kind Invalid if the folder has other files, another version of the format
// or permissions for all users, Forbidden if files cannot be written there, and Unavailable if it cannot be reached.
func Open(config Config) (*Carrier, error) {
	dir, err := filepath.Abs(config.Dir)
	if err != nil || config.Dir == "" {
		return nil, idrl.Errorf(idrl.Invalid, "%q is no folder for messages to workers", config.Dir)
	}
	c := &Carrier{
		folder: folder{dir: dir, shared: config.Shared}, poll: config.Poll, log: config.Log,
		outs: map[string]*outbox{}, odd: map[string]bool{}, poked: make(chan struct{}),
	}
	if c.poll <= 0 {
		c.poll = slowest / 10
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.usage = usage{most: config.MaxBytes, dirs: map[string]*dirUse{}}
	if c.usage.most <= 0 {
		c.usage.most = 4 << 30
	}
	perm := os.FileMode(0o700)
	if config.Shared {
		perm = 0o770
	}
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, c.folder.unusable(err)
	} else if info, errOf := os.Stat(dir); err == nil && errOf == nil && config.Shared {
		if err := os.Chmod(dir, perm|info.Mode()&os.ModeSetgid); err != nil { // whatever the umask is
			return nil, c.folder.unusable(err)
		}
	}
	if _, err := c.folder.get(); err != nil {
		return nil, err
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.work.Go(c.sweep)
	return c, nil
}

// Close ends all channels, and waits for what is being written.
func (c *Carrier) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.stop()
	c.work.Wait()
	c.folder.broken()
	return nil
}

// start runs a goroutine unless the carrier is closed.
func (c *Carrier) start(run func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.work.Go(run)
	return nil
}

var errClosed = idrl.Errorf(idrl.Unavailable, "the carrier of messages to workers is closed")

// leaveOut logs once that a file is left out.
func (c *Carrier) leaveOut(path string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return // another process has removed it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.odd[path] {
		return
	}
	if len(c.odd) >= 1000 {
		clear(c.odd)
	}
	c.odd[path] = true
	c.log.Warn("a file in the folder of workers is left out", "file", path, "error", err)
}

// trouble logs an error of the folder once until it changes; nil ends it.
func (c *Carrier) trouble(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if text != "" && text != c.lastBad {
		c.log.Warn("the folder of workers cannot be used now", "error", err)
	}
	c.lastBad = text
}

// entries returns the files of messages in a box, which it makes if it is not there.
func (c *Carrier) entries(kind, box string) ([]entry, error) {
	root, err := c.folder.get()
	if err != nil {
		return nil, err
	}
	dir := kind + "/" + box
	all, err := names(root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = c.folder.mkdir(root, dir)
	}
	if err != nil {
		if replaced(err) {
			c.folder.broken()
		}
		return nil, err
	}
	found := make([]entry, 0, len(all))
	for _, name := range all {
		if e, ok := parseEntry(name); ok {
			found = append(found, e)
		} else if len(name) < len(temporary) || name[:len(temporary)] != temporary {
			c.leaveOut(dir+"/"+name, errOdd)
		}
	}
	return found, nil
}

// load returns the subject and messages of a file.
func (c *Carrier) load(root *os.Root, dir string, e entry) (string, [][]byte, error) {
	b, err := readFile(root, dir+"/"+e.String(), maxFile)
	if err != nil {
		return "", nil, err
	}
	subject, messages, err := decode(b)
	if err == nil && hashOf(subject) != e.hash {
		err = errTorn
	}
	return subject, messages, err
}
