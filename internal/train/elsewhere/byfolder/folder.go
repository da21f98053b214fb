package byfolder

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"tiebreak/internal/idrl"
)

// The layout.
const (
	formatName = "tiebreak-workers"
	formatFile = "tiebreak-workers.json"
	version    = 1
	told       = "told"
	sent       = "sent"
	blobs      = "blobs"
	temporary  = ".tmp-"
	checkEvery = 5 * time.Second // how often it is checked that the folder was not replaced
)

type format struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
}

// A folder opens the folder again when it was removed and made again.
type folder struct {
	dir    string
	shared bool

	mu      sync.Mutex
	root    *os.Root // nil if it must be opened
	info    os.FileInfo
	checked time.Time
}

// get returns the root of the folder, or an error of kind Unavailable if it cannot be used now.
func (f *folder) get() (*os.Root, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.root != nil && time.Since(f.checked) < checkEvery {
		return f.root, nil
	}
	info, err := os.Stat(f.dir)
	if err != nil {
		return nil, idrl.Errorf(idrl.Unavailable, "the folder %s of workers cannot be used: %v", f.dir, err)
	}
	if f.root != nil && os.SameFile(info, f.info) {
		f.checked = time.Now()
		return f.root, nil
	}
	f.close()
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, idrl.Errorf(idrl.Unavailable, "the folder %s of workers cannot be used: %v", f.dir, err)
	}
	if info, err = root.Stat("."); err == nil {
		err = f.prepare(root, info)
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	f.root, f.info, f.checked = root, info, time.Now()
	return root, nil
}

// replaced reports whether an error is one of a folder that was removed, and perhaps made again.
func replaced(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESTALE) || errors.Is(err, fs.ErrClosed)
}

// broken has the folder opened again.
func (f *folder) broken() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close()
}

func (f *folder) close() {
	if f.root != nil {
		_ = f.root.Close()
		f.root = nil
	}
}

// prepare checks or makes the layout.
func (f *folder) prepare(root *os.Root, info os.FileInfo) error {
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0 {
		return idrl.Errorf(idrl.Invalid, "every user of the machine may write into the folder %s of workers: run chmod o-w on it", f.dir)
	}
	text, err := readFile(root, formatFile, 4096)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := f.begin(root); err != nil {
			return err
		}
	case err != nil:
		return f.unusable(err)
	default:
		var is format
		if err := json.Unmarshal(text, &is); err != nil || is.Format != formatName {
			return idrl.Errorf(idrl.Invalid, "%s is not of a folder of workers: name an empty folder", filepath.Join(f.dir, formatFile))
		}
		if is.Version != version {
			return idrl.Errorf(idrl.Invalid, "the folder %s of workers has version %d of the format, and this program knows version %d: use the same version of Tiebreak for servers and workers", f.dir, is.Version, version)
		}
	}
	for _, name := range []string{told, sent, blobs} {
		if err := f.mkdir(root, name); err != nil {
			return f.unusable(err)
		}
		if info, err := root.Lstat(name); err != nil || !info.IsDir() {
			return idrl.Errorf(idrl.Invalid, "%s is not a folder: remove it", filepath.Join(f.dir, name))
		}
	}
	probe := temporary + randomName() // whether files can be written
	if err := f.write(root, ".", probe, nil); err != nil {
		return f.unusable(err)
	}
	return root.Remove(probe)
}

// begin writes the name of the format into a folder without other files.
func (f *folder) begin(root *os.Root) error {
	all, err := names(root, ".")
	if err != nil {
		return f.unusable(err)
	}
	for _, name := range all {
		switch {
		case name == told, name == sent, name == blobs, name == formatFile, strings.HasPrefix(name, "."), name == "lost+found":
		default:
			return idrl.Errorf(idrl.Invalid, "the folder %s has other files, for example %q: name an empty one for messages to workers", f.dir, name)
		}
	}
	text, err := json.Marshal(format{Format: formatName, Version: version})
	if err != nil {
		return err
	}
	if err := f.write(root, ".", formatFile, append(text, '\n')); err != nil {
		return f.unusable(err)
	}
	return nil
}

// unusable returns an error for what a folder does not permit.
func (f *folder) unusable(err error) error {
	if full := f.full(err); full != nil {
		return full
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return idrl.Errorf(idrl.Forbidden, "the folder %s of workers cannot be written to (%v): check who owns it, and that servers and workers of several users share it by a group", f.dir, err)
	}
	return idrl.Errorf(idrl.Unavailable, "the folder %s of workers cannot be used: %v", f.dir, err)
}

// full returns an error of kind Unavailable if err is one of a full disk, else nil.
func (f *folder) full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return idrl.Errorf(idrl.Unavailable, "the folder %s of workers is full (%v): free space there", f.dir, err)
	}
	return nil
}

// mkdir makes a folder unless it is there.
func (f *folder) mkdir(root *os.Root, name string) error {
	perm := os.FileMode(0o700)
	if f.shared {
		perm = 0o770
	}
	err := root.Mkdir(name, perm)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil || !f.shared {
		return err
	}
	info, err := root.Stat(name)
	if err != nil {
		return err
	}
	return root.Chmod(name, perm|info.Mode()&os.ModeSetgid) // whatever the umask is
}

// write writes a file in a folder below root under a temporary name, and renames it.
func (f *folder) write(root *os.Root, dir, name string, data []byte) (err error) {
	perm := os.FileMode(0o600)
	if f.shared {
		perm = 0o660
	}
	temp := dir + "/" + temporary + randomName()
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil && f.shared {
		err = file.Chmod(perm) // whatever the umask is
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = root.Rename(temp, dir+"/"+name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

func randomName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
