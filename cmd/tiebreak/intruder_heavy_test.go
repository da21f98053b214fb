package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/rollouts"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// importing imports, again and again, a zip file of a megabyte that unpacks to 700 MB and is no session.
func (i *intrusion) importing() func(context.Context) error {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	var files []map[string]any
	for name, n := range map[string]int64{"tiebreak/answer.jsonl": 80 << 20, "adapters/ipl.npz": 600 << 20} {
		w, err := z.Create(name)
		if err != nil {
			i.b.Fatal(err)
		}
		h := sha256.New()
		zeros := make([]byte, 1<<20)
		for range n >> 20 {
			if _, err := io.MultiWriter(w, h).Write(zeros); err != nil {
				i.b.Fatal(err)
			}
		}
		files = append(files, map[string]any{"name": name, "bytes": n, "sha256": fmt.Sprintf("%x", h.Sum(nil))})
	}
	list, err := json.Marshal(files)
	if err != nil {
		i.b.Fatal(err)
	}
	return i.imports(z, &out, string(list))
}

// importingMeta imports, again and again, an archive with a meta.json of 23 MB that lists nothing.
func (i *intrusion) importingMeta() func(context.Context) error {
	var out bytes.Buffer
	return i.imports(zip.NewWriter(&out), &out, "["+strings.Repeat("{},", 23<<20/3)+"{}]")
}

// imports ends an archive with a meta.json that has a list of files, and returns a function that imports it.
func (i *intrusion) imports(z *zip.Writer, out *bytes.Buffer, files string) func(context.Context) error {
	w, err := z.Create("meta.json")
	if err == nil {
		_, err = fmt.Fprintf(w, `{"format":"tiebreak.bundle","schema_version":%d,"session_id":"s","complete":true,"records_version":1,"files":%s}`, bundle.SchemaVersion, files)
	}
	if err == nil {
		err = z.Close()
	}
	path := filepath.Join(i.b.TempDir(), "bundle.zip")
	if err == nil {
		err = os.WriteFile(path, out.Bytes(), 0o600)
	}
	if err != nil {
		i.b.Fatal(err)
	}
	return func(ctx context.Context) error {
		i.attempts.Add(1)
		_, err := importBundle(ctx, i.app.db, &importFlags{from: path, anew: true})
		return err
	}
}

// uploading sends, again and again, as many pixels as an upload may have.
func (i *intrusion) uploading() func(context.Context) error {
	spec, err := newSession(i.b.Context(), i.app.db, i.app.envs(), idrl.SessionSpec{Title: "uploads", Env: idrl.RolloutsEnv, Features: []string{"one"}, Seed: 1})
	if err != nil {
		i.b.Fatal(err)
	}
	token, _, err := i.app.auth.NewToken(i.b.Context(), identity.Token{Name: "uploads", Scope: identity.ScopeUpload, Session: spec.ID}, time.Hour, byCommand)
	if err != nil {
		i.b.Fatal(err)
	}
	var list []rollouts.Trajectory
	for n := range 2 {
		t := rollouts.Trajectory{Observations: [][]float64{{float64(n)}, {1}}, Actions: [][]float64{{1}}, Features: [][]float64{{1}}, StepSeconds: 0.1}
		for shade := range 2 {
			img := image.NewGray(image.Rect(0, 0, 4096, 4096))
			img.Pix[0] = uint8(2*n + shade) //nolint:gosec // small
			var out bytes.Buffer
			if err := png.Encode(&out, img); err != nil {
				i.b.Fatal(err)
			}
			t.Pictures = append(t.Pictures, base64.StdEncoding.EncodeToString(out.Bytes()))
		}
		list = append(list, t)
	}
	body, err := json.Marshal(map[string]any{"trajectories": list})
	if err != nil {
		i.b.Fatal(err)
	}
	to := i.base.ResolveReference(&url.URL{Path: "/api/v1/sessions/" + string(spec.ID) + "/trajectories"}).String()
	patient := &http.Client{Timeout: 5 * time.Minute}
	return func(ctx context.Context) error {
		i.attempts.Add(1)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := patient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		_, err = io.Copy(io.Discard, res.Body)
		return err
	}
}

// creating makes sessions, as the form does.
func (i *intrusion) creating() func(context.Context) error {
	i.reader = signIn(i.b, i.app, i.base)
	to := i.base.ResolveReference(&url.URL{Path: "/sessions"}).String()
	form := url.Values{"title": {"flood"}, "env": {"gridworld"}}
	i.reader.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return func(ctx context.Context) error {
		i.attempt(ctx)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return i.fetch(i.reader, req, http.StatusSeeOther)
	}
}

// answers reads the log of the session from its beginning with a token.
func (i *intrusion) answers() func(context.Context) error {
	id := strings.Split(i.base.Path, "/")[2]
	token, _, err := i.app.auth.NewToken(i.b.Context(), identity.Token{Name: "reader", Scope: identity.ScopeRead, Session: idrl.SessionID(id)}, time.Hour, byCommand)
	if err != nil {
		i.b.Fatal(err)
	}
	from := i.base.ResolveReference(&url.URL{Path: "/api/v1/sessions/" + id + "/answers"}).String()
	return func(ctx context.Context) error {
		i.attempt(ctx)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		return i.fetch(flooder, req, http.StatusOK)
	}
}

// fetch sends a request and reads the reply, whose status must be want or that of a refusal.
func (i *intrusion) fetch(by *http.Client, req *http.Request, want int) error {
	res, err := by.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	refused := res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusTooManyRequests
	if _, err = io.Copy(io.Discard, res.Body); err == nil && res.StatusCode != want && !refused {
		i.b.Errorf("%s: status %d", req.URL.Path, res.StatusCode)
	}
	return err
}

func heapObjects() float64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64())
}

// sampleHeap looks at the heap until it is stopped.
func sampleHeap() (most func() float64, stop func()) {
	var max atomic.Uint64
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if v := uint64(heapObjects()); v > max.Load() {
				max.Store(v)
			}
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	return func() float64 { return float64(max.Load()) }, func() { close(done); <-gone }
}
