package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// FS holds the files: css/*.css, js/*.js, icon.svg.
//
//go:embed css/*.css js/*.js icon.svg
var FS embed.FS

// Base returns the URL under which Handler serves, "/static/" and a hash of all
// files. Modules import one another by relative URLs, so they share the hash,
// and a browser never mixes the files of two versions.
var Base = sync.OnceValue(func() string {
	h := sha256.New()
	must(fs.WalkDir(FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := FS.ReadFile(name)
		h.Write([]byte(name))
		h.Write(b)
		return err
	}))
	return "/static/" + hex.EncodeToString(h.Sum(nil)[:6])
})

// Modules returns the file names below js/ of an entry module and of all modules
// that it imports, itself or through others: the entry first, the others by name.
// An entry that does not exist is a programmer's mistake.
func Modules(entry string) []string { return slices.Clone(modules()[entry]) }

// imported finds the relative imports of a module. A type in a comment is none.
var imported = regexp.MustCompile(`(?m)^(?:import|export)\s(?:[^;"]*?\sfrom\s)?"\./([^"]+)";`)

// modules returns the result of Modules for each module.
var modules = sync.OnceValue(func() map[string][]string {
	files, err := fs.Glob(FS, "js/*.js")
	must(err)
	direct := map[string][]string{}
	for _, f := range files {
		b, err := FS.ReadFile(f)
		must(err)
		for _, m := range imported.FindAllStringSubmatch(string(b), -1) {
			direct[path.Base(f)] = append(direct[path.Base(f)], m[1])
		}
	}
	out := map[string][]string{}
	for _, f := range files {
		entry := path.Base(f)
		seen := map[string]bool{entry: true}
		for next := []string{entry}; len(next) > 0; next = next[1:] {
			for _, m := range direct[next[0]] {
				if !seen[m] {
					seen[m] = true
					next = append(next, m)
				}
			}
		}
		delete(seen, entry)
		out[entry] = append([]string{entry}, slices.Sorted(maps.Keys(seen))...)
	}
	return out
})

// types of the files by extension. The system's own table may lack or change
// them, and browsers refuse modules of another type.
var types = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// worker is the service worker of the annotators' pages, which lie elsewhere.
const worker = "js/offline.js"

// packed returns the files by name, compressed with gzip.
var packed = sync.OnceValue(func() map[string][]byte {
	out := map[string][]byte{}
	must(fs.WalkDir(FS, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := FS.ReadFile(name)
		if err != nil {
			return err
		}
		var z bytes.Buffer
		w, err := gzip.NewWriterLevel(&z, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		err = errors.Join(err, w.Close())
		out[name] = z.Bytes()
		return err
	}))
	return out
})

// Handler serves the files under Base, compressed for clients that accept it, with
// leave to keep them for a year, and answers 404 to all else, also to an older
// version's URLs.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := strings.CutPrefix(r.URL.Path, Base()+"/")
		b, err := FS.ReadFile(name)
		if !ok || err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			w.Header().Set("Content-Encoding", "gzip")
			b = packed()[name]
		}
		switch {
		case name == worker:
			w.Header().Set("Service-Worker-Allowed", "/sessions/")
		case path.Ext(name) != ".svg":
			brief(w.Header())
		}
		w.Header().Set("Content-Type", types[path.Ext(name)])
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(b))
	})
}

// brief leaves out what matters to documents and workers only. With forty files it is a
// sixth of what a page costs.
func brief(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Del("Cross-Origin-Opener-Policy")
	h.Del("Referrer-Policy")
}

func must(err error) {
	if err != nil {
		panic("static: " + err.Error()) // an embedded file cannot fail to read
	}
}
