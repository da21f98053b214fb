//go:build linux

package main

import (
	"maps"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"
)

const (
	pageSize = 4096
	syncTime = 2 * time.Millisecond // of a fast solid-state disk, so that a process is often killed between a write and its sync
)

// A file is a regular file or a folder: as programs see it, and as it is after a power cut.
type file struct {
	ino   uint64
	mode  uint32 // with its type
	mtime time.Time

	data, safe []byte
	unsynced   map[int]bool // pages of data that differ from safe
	cutTo      int          // least size of data since the last sync

	names, safeNames map[string]*file // nil in regular files
}

func (f *file) isFolder() bool { return f.names != nil }

// A disk has all files. It is safe for concurrent use.
type disk struct {
	mu      sync.Mutex // guards all of it
	root    *file
	last    uint64   // number of the last file that was made
	pending []func() // changes of names that are not synced, in their order

	lies       bool
	writes     syscall.Errno // of each write; 0 for success
	syncs      syscall.Errno
	room       int64 // bytes by which files may grow
	hasNoLimit bool
}

func newDisk() *disk {
	d := &disk{hasNoLimit: true}
	d.root = d.make(syscall.S_IFDIR | 0o700)
	return d
}

// make returns a new file without a name.
func (d *disk) make(mode uint32) *file {
	d.last++
	f := &file{ino: d.last, mode: mode, mtime: time.Now(), unsynced: map[int]bool{}}
	if mode&syscall.S_IFMT == syscall.S_IFDIR {
		f.names, f.safeNames = map[string]*file{}, map[string]*file{}
	}
	return f
}

// name gives f, or nothing if it is nil, a name in a folder, now and with the next sync.
func (d *disk) name(folder *file, name string, f *file) {
	set := func(names map[string]*file) {
		if f == nil {
			delete(names, name)
		} else {
			names[name] = f
		}
	}
	set(folder.names)
	folder.mtime = time.Now()
	d.pending = append(d.pending, func() { set(folder.safeNames) })
}

// write writes b at off.
func (d *disk) write(f *file, b []byte, off int) syscall.Errno {
	if d.writes != 0 {
		return d.writes
	}
	if end := off + len(b); end > len(f.data) {
		if errno := d.resize(f, end); errno != 0 {
			return errno
		}
	}
	copy(f.data[off:], b)
	for p := off / pageSize; p*pageSize < off+len(b); p++ {
		f.unsynced[p] = true
	}
	f.mtime = time.Now()
	return 0
}

// resize gives f another size.
func (d *disk) resize(f *file, size int) syscall.Errno {
	grows := size - len(f.data)
	if grows > 0 && !d.hasNoLimit {
		if int64(grows) > d.room {
			return syscall.ENOSPC
		}
		d.room -= int64(grows)
	}
	for p := min(size, len(f.data)) / pageSize; p*pageSize < max(size, len(f.data)); p++ {
		f.unsynced[p] = true
	}
	if grows > 0 {
		f.data = append(f.data, make([]byte, grows)...)
	} else {
		clear(f.data[size:]) // append may use this place again
		f.data = f.data[:size]
		f.cutTo = min(f.cutTo, size)
	}
	f.mtime = time.Now()
	return 0
}

// sync makes f, and all names, durable.
func (d *disk) sync(f *file) syscall.Errno {
	switch {
	case d.syncs != 0:
		clear(f.unsynced) // Linux, too, takes these pages for written
		return d.syncs
	case d.lies:
		return 0
	}
	for _, apply := range d.pending {
		apply()
	}
	d.pending = nil
	f.reach(f.data, f.cutTo, f.unsynced)
	clear(f.unsynced)
	f.cutTo = len(f.data)
	return 0
}

// reach has the pages of data become durable, after f had size cutTo.
func (f *file) reach(data []byte, cutTo int, pages map[int]bool) {
	f.safe = f.safe[:min(len(f.safe), cutTo)]
	for p := range pages {
		from, to := p*pageSize, min((p+1)*pageSize, len(data))
		if from >= to {
			continue // it was cut off
		}
		if to > len(f.safe) {
			f.safe = append(f.safe, make([]byte, to-len(f.safe))...)
		}
		copy(f.safe[from:to], data[from:to])
	}
}

// cut returns the disk as it is after a power cut, and the number of pages that are lost. A share of what was not synced is there.
func (d *disk) cut(rng *rand.Rand, share float64) (after *disk, lost int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	after = &disk{last: d.last, hasNoLimit: true}
	for _, apply := range d.pending[:int(share*float64(len(d.pending)+1)*rng.Float64())] {
		apply()
	}
	copies := map[*file]*file{} // a file may have two names while it is renamed
	var copied func(f *file) *file
	copied = func(f *file) *file {
		if c := copies[f]; c != nil {
			return c
		}
		c := &file{ino: f.ino, mode: f.mode, mtime: f.mtime, unsynced: map[int]bool{}}
		copies[f] = c
		if f.isFolder() {
			c.names = map[string]*file{}
			for name, child := range f.safeNames {
				c.names[name] = copied(child)
			}
			c.safeNames = maps.Clone(c.names)
			return c
		}
		kept := map[int]bool{}
		for p := range f.unsynced {
			if rng.Float64() < share {
				kept[p] = true
			} else {
				lost++
			}
		}
		c.safe, c.cutTo = append([]byte(nil), f.safe...), len(f.safe)
		c.reach(f.data, c.cutTo, kept)
		c.data, c.cutTo = append([]byte(nil), c.safe...), len(c.safe)
		return c
	}
	after.root = copied(d.root)
	return after, lost
}
