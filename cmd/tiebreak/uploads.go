package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/store"
	"tiebreak/web"
)

const (
	uploadsFolder = store.UploadsFolder // the label of what is in it
	uploadNote    = ".upload"           // file of an upload: an uploadOwner
	uploadMade    = ".new-"             // begins the names of those that are not complete
	uploadTable   = "episodes.csv"      // the file of an upload that is a table
	uploadsAtOnce = 4                   // that a server receives and unpacks
)

// An uploadOwner is who sent an upload, and how much.
type uploadOwner struct {
	Owner string    `json:"owner"`
	Began time.Time `json:"began"`
	Bytes int64     `json:"bytes"`
}

// An uploadDesk receives data sets as archives, and tables of episodes, and keeps each in a folder of its own, from which it is imported like any other.
type uploadDesk struct {
	folder string // of uploads
	into   string // of sets of rollouts
	room   func() uint64
	log    *slog.Logger

	ctx   context.Context //nolint:containedctx // ends with the server
	end   context.CancelFunc
	works sync.WaitGroup

	mu     sync.Mutex
	list   []web.UploadState // guarded by mu: those that are under way or were refused since the server began
	coming int64             // guarded by mu: bytes of those that are being received
	shown  map[string]shown  // guarded by mu: by the folder of a set
}

// newUploadDesk makes the folder of uploads, and removes what was not complete when a server ended.
func newUploadDesk(data string, room func() uint64, log *slog.Logger) (*uploadDesk, error) {
	u := &uploadDesk{folder: filepath.Join(data, uploadsFolder), into: filepath.Join(data, recordings.FolderName), room: room, log: log, shown: map[string]shown{}}
	u.ctx, u.end = context.WithCancel(context.Background())
	if err := os.MkdirAll(u.folder, 0o700); err != nil {
		return nil, err
	}
	var err error
	if u.folder, err = filepath.Abs(u.folder); err == nil {
		u.folder, err = filepath.EvalSymlinks(u.folder) // as recordings name it
	}
	if err != nil {
		return nil, err
	}
	left, err := filepath.Glob(filepath.Join(u.folder, uploadMade+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return u, err
}

// Receive implements web.Importer.
func (u *uploadDesk) Receive(up web.Upload, body io.Reader, turn web.ImportTurn) (set string, err error) {
	if set, err = u.begin(up); err != nil {
		return "", err
	}
	dir := filepath.Join(u.folder, uploadMade+up.Name)
	err = receiveFile(dir, up, body)
	u.mu.Lock()
	u.coming -= up.Bytes
	u.mu.Unlock()
	if err == nil && up.Table {
		err = u.keep(dir, up)
	}
	if err != nil || up.Table {
		err = errors.Join(err, os.RemoveAll(dir))
		u.change(up.Name, nil)
		return set, err
	}
	u.change(up.Name, func(s *web.UploadState) { s.Says = "It waits to be unpacked." })
	u.works.Go(func() {
		err := u.unpack(dir, up, turn)
		if err = errors.Join(err, os.RemoveAll(dir)); err == nil {
			u.change(up.Name, nil)
			return
		}
		if idrl.KindOf(err) == idrl.Internal {
			u.log.Error("an upload failed", "name", up.Name, "err", err)
		}
		u.change(up.Name, func(s *web.UploadState) {
			s.Says = ""
			s.Wrong, _ = whyNoImport(err, u.ctx.Err() != nil)
		})
	})
	return set, nil
}

// begin checks what is told of an upload, and takes its name and a place.
func (u *uploadDesk) begin(up web.Upload) (set string, err error) {
	most, set := int64(recordings.MaxArchive), uploadsFolder+"/"+up.Name
	if up.Table {
		most, set = recordings.MaxTable, set+"/"+uploadTable
	}
	room := u.room()
	switch {
	case !foreign.IsName(up.Name, 64):
		return "", idrl.Errorf(idrl.Invalid, "an upload is called by lower-case letters, digits and hyphens, at most 64, such as my-robots; not %.80q", up.Name)
	case up.Bytes <= 0:
		return "", idrl.Errorf(idrl.Invalid, "the file is empty, or its size is not told beforehand (Content-Length)")
	case up.Bytes > most:
		return "", idrl.Errorf(idrl.Invalid, "the file has %d bytes; at most %d are taken. The operator of the server can allow its folder (serve --recordings)", up.Bytes, most)
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if uint64(up.Bytes+u.coming) > room {
		return "", idrl.Errorf(idrl.Invalid, "rollouts-space: the file has %d bytes, and there is room for %d on the disk of the data folder, less %d that are being received", up.Bytes, room, u.coming)
	}
	u.list = slices.DeleteFunc(u.list, func(s web.UploadState) bool { return s.Says == "" && s.Name == up.Name && s.Owner == up.Owner })
	switch _, err := os.Lstat(filepath.Join(u.folder, up.Name)); {
	case u.ctx.Err() != nil:
		return "", idrl.Errorf(idrl.Unavailable, "the server is stopping")
	case err == nil || slices.ContainsFunc(u.list, func(s web.UploadState) bool { return s.Name == up.Name }):
		return "", idrl.Errorf(idrl.Conflict, "there is an upload called %s already: use another name", up.Name)
	case len(u.list) >= keptImports:
		return "", idrl.Errorf(idrl.Conflict, "there are %d uploads that are under way or were refused: discard some", len(u.list))
	}
	busy := 0
	for _, s := range u.list {
		if s.Says != "" {
			busy++
		}
	}
	if busy >= uploadsAtOnce {
		return "", idrl.Errorf(idrl.Conflict, "%d other uploads are under way: wait until one has ended", busy)
	}
	u.list = append(u.list, web.UploadState{Name: up.Name, Set: set, Owner: up.Owner, Began: time.Now(), Says: "It is being received."})
	u.coming += up.Bytes
	return set, nil
}

// receiveFile writes what is sent to the file of an upload in a folder, which it makes.
func receiveFile(dir string, up web.Upload, body io.Reader) (err error) {
	path := filepath.Join(dir, "archive")
	if up.Table {
		path = filepath.Join(dir, "files", uploadTable)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(body, up.Bytes+1))
	if err == nil && n != up.Bytes {
		err = errors.New("it has another size than was told")
	}
	if err != nil {
		err = idrl.Errorf(idrl.Invalid, "the upload broke off after %d of %d bytes: send it again (%v)", n, up.Bytes, err)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// unpack unpacks an upload in a process of its own, in a turn of heavy work.
func (u *uploadDesk) unpack(dir string, up web.Upload, turn web.ImportTurn) error {
	pause, leave, err := turn(u.ctx)
	if err != nil {
		return err
	}
	defer leave()
	job := importJob{Unpack: &recordings.Unpacking{Archive: filepath.Join(dir, "archive"), To: filepath.Join(dir, "files"), Room: u.room()}}
	err = importApart(u.ctx, job, func(l importLine) {
		pause()
		u.change(up.Name, func(s *web.UploadState) { s.Says = l.sentence() })
	})
	if err != nil {
		return err
	}
	return u.keep(dir, up)
}

// keep makes the files of an upload one that is seen.
func (u *uploadDesk) keep(dir string, up web.Upload) error {
	files := filepath.Join(dir, "files")
	size, err := sizeOf(files)
	if err != nil {
		return err
	}
	b, err := json.Marshal(uploadOwner{up.Owner, time.Now(), size})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(files, uploadNote), b, 0o600); err != nil {
		return err
	}
	return os.Rename(files, filepath.Join(u.folder, up.Name))
}

// change changes what is told of an upload, or with nil forgets it.
func (u *uploadDesk) change(name string, do func(*web.UploadState)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := slices.IndexFunc(u.list, func(s web.UploadState) bool { return s.Name == name && s.Says != "" })
	switch {
	case at < 0:
	case do == nil:
		u.list = slices.Delete(u.list, at, at+1)
	default:
		do(&u.list[at])
	}
}

// owner returns who sent an upload that is complete.
func (u *uploadDesk) owner(name string) (by uploadOwner, ok bool) {
	if !foreign.IsName(name, 64) {
		return by, false
	}
	b, err := os.ReadFile(filepath.Join(u.folder, name, uploadNote))
	return by, err == nil && json.Unmarshal(b, &by) == nil
}

// sees reports whether an account may read what a name of the list leads to: of uploads those that it sent, or all if it is empty.
func (u *uploadDesk) sees(owner, name string) bool {
	rest, of := strings.CutPrefix(name, uploadsFolder+"/")
	if !of {
		return true
	}
	upload, _, _ := strings.Cut(rest, "/")
	by, ok := u.owner(upload)
	return ok && (owner == "" || by.Owner == owner)
}

// close ends what is unpacked, and waits for it.
func (u *uploadDesk) close() {
	u.end()
	u.works.Wait()
}
