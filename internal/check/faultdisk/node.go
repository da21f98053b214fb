//go:build linux

package main

import (
	"context"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// noReplace is the flag of renameat2(2) with which a file that is there is not replaced.
const noReplace = 1

// A node is a file as FUSE asks for it.
type node struct {
	fs.Inode
	d *disk
	f *file
}

var _ interface {
	fs.NodeLookuper
	fs.NodeCreater
	fs.NodeMkdirer
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeReaddirer
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeOpener
	fs.NodeReader
	fs.NodeWriter
	fs.NodeFsyncer
	fs.NodeStatfser
} = (*node)(nil)

func (n *node) child(ctx context.Context, f *file, out *fuse.EntryOut) *fs.Inode {
	n.attr(f, &out.Attr)
	return n.NewInode(ctx, &node{d: n.d, f: f}, fs.StableAttr{Mode: f.mode & syscall.S_IFMT, Ino: f.ino})
}

func (n *node) attr(f *file, out *fuse.Attr) {
	out.Ino, out.Mode, out.Size, out.Nlink, out.Blksize = f.ino, f.mode, uint64(len(f.data)), 1, pageSize
	out.Blocks = (out.Size + 511) / 512
	out.Uid, out.Gid = uint32(os.Getuid()), uint32(os.Getgid())
	out.SetTimes(nil, &f.mtime, &f.mtime)
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	f := n.f.names[name]
	if f == nil {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, f, out), 0
}

func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	f := n.d.make(syscall.S_IFREG | mode&0o777)
	n.d.name(n.f, name, f)
	return n.child(ctx, f, out), nil, 0, 0
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	f := n.d.make(syscall.S_IFDIR | mode&0o777)
	n.d.name(n.f, name, f)
	return n.child(ctx, f, out), 0
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	if n.f.names[name] == nil {
		return syscall.ENOENT
	}
	n.d.name(n.f, name, nil)
	return 0
}

func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	n.d.mu.Lock()
	full := n.f.names[name] != nil && len(n.f.names[name].names) > 0
	n.d.mu.Unlock()
	if full {
		return syscall.ENOTEMPTY
	}
	return n.Unlink(ctx, name)
}

func (n *node) Rename(_ context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := parent.(*node)
	if !ok {
		return syscall.EXDEV
	}
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	f := n.f.names[name]
	switch there := to.f.names[newName]; {
	case f == nil:
		return syscall.ENOENT
	case flags&^noReplace != 0:
		return syscall.EINVAL
	case there != nil && flags&noReplace != 0:
		return syscall.EEXIST
	case there != nil && len(there.names) > 0:
		return syscall.ENOTEMPTY
	}
	n.d.name(to.f, newName, f)
	n.d.name(n.f, name, nil)
	return 0
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	var list []fuse.DirEntry
	for _, name := range slices.Sorted(maps.Keys(n.f.names)) {
		f := n.f.names[name]
		list = append(list, fuse.DirEntry{Name: name, Mode: f.mode & syscall.S_IFMT, Ino: f.ino})
	}
	return fs.NewListDirStream(list), 0
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	n.attr(n.f, &out.Attr)
	return 0
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	if size, ok := in.GetSize(); ok {
		if errno := n.d.resize(n.f, int(size)); errno != 0 {
			return errno
		}
	}
	if mode, ok := in.GetMode(); ok {
		n.f.mode = n.f.mode&syscall.S_IFMT | mode&0o7777
	}
	if t, ok := in.GetMTime(); ok {
		n.f.mtime = t
	}
	n.attr(n.f, &out.Attr)
	return 0
}

// Open has the system keep what it holds of the file in memory, as it does for other disks. Else a memory-mapped page whose write failed
// would be read from here again.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	from := min(int(off), len(n.f.data))
	return fuse.ReadResultData(dest[:copy(dest, n.f.data[from:])]), 0
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, b []byte, off int64) (uint32, syscall.Errno) {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	if errno := n.d.write(n.f, b, int(off)); errno != 0 {
		return 0, errno
	}
	return uint32(len(b)), 0
}

func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	time.Sleep(syncTime)
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	return n.d.sync(n.f)
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	n.d.mu.Lock()
	defer n.d.mu.Unlock()
	out.Bsize, out.Frsize, out.NameLen = pageSize, pageSize, 255
	out.Blocks = 1 << 24
	out.Bfree = out.Blocks
	if !n.d.hasNoLimit {
		out.Bfree = uint64(n.d.room) / pageSize
	}
	out.Bavail = out.Bfree
	return 0
}
