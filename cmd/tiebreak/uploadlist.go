package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/web"
)

// A shown says of which upload a set of recordings shows the videos.
type shown struct {
	changed time.Time // the folder of the set, when it was opened
	env     string
	upload  string // empty: of none
}

// Uploads implements web.Importer.
func (m *importDesk) Uploads(owner string) (out []web.UploadState, err error) {
	all, err := m.all()
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	imports, err := m.imports()
	for _, s := range all {
		if owner == "" || s.Owner == owner {
			s.Imports = readers(imports, s.Name)
			out = append(out, s)
		}
	}
	return out, err
}

// all returns all uploads, without the imports that read them.
func (u *uploadDesk) all() (all []web.UploadState, err error) {
	entries, err := os.ReadDir(u.folder)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	all = slices.Clone(u.list)
	by, _ := u.shows() // a set that cannot be read keeps all uploads (Discard)
	for _, e := range entries {
		note, ok := u.owner(e.Name())
		if !ok {
			continue
		}
		set := uploadsFolder + "/" + e.Name()
		if _, err := os.Lstat(filepath.Join(u.folder, e.Name(), uploadTable)); err == nil {
			set += "/" + uploadTable
		}
		all = append(all, web.UploadState{Name: e.Name(), Set: set, Owner: note.Owner, Began: note.Began, Bytes: note.Bytes, Sets: by[e.Name()]})
	}
	return all, nil
}

// shows returns the environments that show the videos of each upload. u.mu must be held. Each set is opened once. With an error, which names sets that cannot
// be read, it returns those of the others.
func (u *uploadDesk) shows() (by map[string][]string, err error) {
	dirs, err := recordings.List(u.into)
	by = map[string][]string{}
	for _, dir := range dirs {
		info, statErr := os.Stat(dir)
		if errors.Is(statErr, fs.ErrNotExist) { // it was removed meanwhile
			continue
		}
		one := u.shown[dir]
		if statErr == nil && !one.changed.Equal(info.ModTime()) {
			one.changed = info.ModTime()
			one.env, one.upload, statErr = u.showsOf(dir)
		}
		if statErr != nil {
			err = errors.Join(err, statErr)
			continue
		}
		if u.shown[dir] = one; one.upload != "" {
			by[one.upload] = append(by[one.upload], one.env)
		}
	}
	return by, err
}

// showsOf returns the environment of a set, and the upload whose videos it shows, empty for none.
func (u *uploadDesk) showsOf(dir string) (env, upload string, err error) {
	s, err := recordings.Open(dir)
	if err != nil {
		return "", "", err
	}
	_, videos := s.Filmed()
	if rel, err := filepath.Rel(u.folder, videos); err == nil && videos != "" && filepath.IsLocal(rel) {
		upload, _, _ = strings.Cut(filepath.ToSlash(rel), "/")
	}
	return s.ID(), upload, nil
}

// readers returns the names of those imports that read an upload, or were interrupted and can go on with it.
func readers(imports []web.ImportState, upload string) (names []string) {
	for _, s := range imports {
		for _, name := range []string{s.Ask.Set, s.Ask.Values["episodes_csv"]} {
			rest, of := strings.CutPrefix(name, uploadsFolder+"/")
			if first, _, _ := strings.Cut(rest, "/"); of && first == upload && (s.Says != "" || s.Again) {
				names = append(names, s.Ask.Name())
				break
			}
		}
	}
	return names
}

// Discard implements web.Importer.
func (m *importDesk) Discard(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	imports, err := m.imports()
	if err != nil {
		return err
	}
	if reading := readers(imports, name); len(reading) > 0 {
		return idrl.Errorf(idrl.Conflict, "the import %s reads this upload, or can go on with it: wait until it has ended, or discard it first", reading[0])
	}
	return m.uploadDesk.discard(name)
}

// discard removes an upload whose videos are not shown.
func (u *uploadDesk) discard(name string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if slices.ContainsFunc(u.list, func(s web.UploadState) bool { return s.Name == name && s.Says != "" }) {
		return idrl.Errorf(idrl.Conflict, "this upload is under way: wait until it has ended")
	}
	u.list = slices.DeleteFunc(u.list, func(s web.UploadState) bool { return s.Name == name })
	if _, ok := u.owner(name); !ok {
		return nil
	}
	by, err := u.shows()
	if err != nil {
		return fmt.Errorf("which videos are used is not known: %w", err)
	}
	if sets := by[name]; len(sets) > 0 {
		return idrl.Errorf(idrl.Conflict, "the recordings %s show the videos of this upload: it stays as long as they do", words.List(sets))
	}
	gone := filepath.Join(u.folder, uploadMade+name+"-gone") // at once, also if the server is killed
	return errors.Join(os.Rename(filepath.Join(u.folder, name), gone), os.RemoveAll(gone))
}

// sizeOf returns the bytes of all files in a folder.
func sizeOf(folder string) (n int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
