package byfolder

import (
	"os"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// How old files may get, by the clock of the carrier that observes them.
const (
	messageAge = 10 * time.Minute // messages that are not received, and temporary files
	toldAge    = time.Hour        // what is told and not told again, and empty folders
	blobAge    = 90 * time.Minute // blobs that are not used
	sweepEvery = 5 * time.Second  // in which one folder is looked at
)

// A usage is how many bytes the files have, as far as this carrier knows.
type usage struct {
	mu    sync.Mutex // guards what follows
	most  int64
	dirs  map[string]*dirUse
	fresh time.Time // when all folders were last looked at because the folder seemed full
}

// A dirUse describes the files of one folder.
type dirUse struct {
	files map[string]seen
	empty time.Time // since when it is; zero if it is not
	bytes int64     // of files
	added int64     // that this carrier has written since
}

// A seen file has been the same since first.
type seen struct {
	first time.Time
	size  int64
	mod   time.Time
}

// room returns an error of kind Unavailable if n bytes are too many, else it counts them. All folders are looked at for
// a blob, and if they seem full, at most once a second.
func (c *Carrier) room(dir string, n int64) error {
	u := &c.usage
	u.mu.Lock()
	defer u.mu.Unlock()
	if (dir == blobs || u.total()+n > u.most) && time.Since(u.fresh) > min(10*c.poll, slowest) {
		u.fresh = time.Now()
		for _, dir := range c.dirs() {
			c.look(dir)
		}
	}
	if total := u.total(); total+n > u.most {
		return idrl.Errorf(idrl.Unavailable, "the folder %s of workers is full: it has %d bytes, and %d may be there; wait until messages are received, or allow more", c.folder.dir, total, u.most)
	}
	u.of(dir).added += n
	return nil
}

func (u *usage) total() (n int64) {
	for _, d := range u.dirs {
		n += d.bytes + d.added
	}
	return n
}

func (u *usage) of(dir string) *dirUse {
	d := u.dirs[dir]
	if d == nil {
		d = &dirUse{files: map[string]seen{}}
		u.dirs[dir] = d
	}
	return d
}

// sweep looks at one folder after the other, and removes old files. Each carrier does, slowly.
func (c *Carrier) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var next []string
	for {
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return
		}
		c.usage.mu.Lock()
		if len(next) == 0 {
			next = c.dirs()
		}
		if len(next) > 0 {
			c.look(next[0])
			next = next[1:]
		}
		c.usage.mu.Unlock()
	}
}

// dirs returns the folders that have files, and forgets others.
func (c *Carrier) dirs() []string {
	root, err := c.folder.get()
	if err != nil {
		return nil
	}
	all := []string{blobs}
	for _, kind := range []string{told, sent} {
		boxes, err := names(root, kind)
		if err != nil {
			return nil
		}
		for _, box := range boxes {
			if first, second, two := strings.Cut(box, "."); elsewhere.Valid(first) && (!two || elsewhere.Valid(second)) {
				all = append(all, kind+"/"+box)
			}
		}
	}
	there := map[string]bool{}
	for _, dir := range all {
		there[dir] = true
	}
	for dir := range c.usage.dirs {
		if !there[dir] {
			delete(c.usage.dirs, dir)
		}
	}
	return all
}

// look counts the bytes of a folder, and removes what is old. The caller holds the usage's mu.
func (c *Carrier) look(dir string) {
	root, err := c.folder.get()
	if err != nil {
		return
	}
	all, err := names(root, dir)
	if err != nil {
		return
	}
	d, now := c.usage.of(dir), time.Now()
	files := make(map[string]seen, len(all))
	d.bytes, d.added = 0, 0
	for _, name := range all {
		age, most := c.limits(dir, name)
		if age == 0 {
			continue
		}
		s, ok := d.files[name]
		if !ok || now.Sub(s.first) > age || dir == blobs || strings.HasPrefix(name, temporary) {
			if s, ok = observe(root, dir+"/"+name, s, now); !ok {
				continue
			}
		}
		if now.Sub(s.first) > age && root.Remove(dir+"/"+name) == nil {
			c.log.Info("an old file in the folder of workers is removed", "file", dir+"/"+name)
			continue
		}
		files[name] = s
		d.bytes += min(s.size, most)
	}
	d.files = files
	c.removeEmpty(root, dir, d, len(all), now)
}

// observe returns what is seen of a file now. ok is false if it is not a regular one.
func observe(root *os.Root, path string, before seen, now time.Time) (s seen, ok bool) {
	info, err := root.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return s, false
	}
	if before.size == info.Size() && before.mod.Equal(info.ModTime()) && !before.first.IsZero() {
		return before, true
	}
	return seen{first: now, size: info.Size(), mod: info.ModTime()}, true
}

// removeEmpty removes the folder of a worker that has been empty for long.
func (c *Carrier) removeEmpty(root *os.Root, dir string, d *dirUse, n int, now time.Time) {
	switch {
	case n > 0 || dir == blobs:
		d.empty = time.Time{}
	case d.empty.IsZero():
		d.empty = now
	case now.Sub(d.empty) > toldAge:
		_ = root.Remove(dir) // it is made again when it is used
	}
}

// limits returns how old and how large a file may be; zero for one that the carrier does not know.
func (c *Carrier) limits(dir, name string) (age time.Duration, most int64) {
	if strings.HasPrefix(name, temporary) {
		return messageAge, elsewhere.MaxBlob
	}
	_, message := parseEntry(name)
	switch kind, _, _ := strings.Cut(dir, "/"); {
	case kind == blobs && len(name) == 64 && isHex(name):
		return blobAge, elsewhere.MaxBlob
	case kind == sent && message:
		return messageAge, maxFile
	case kind == told && message:
		return toldAge, maxFile
	}
	return 0, 0
}
