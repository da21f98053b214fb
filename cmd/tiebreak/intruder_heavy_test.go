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
	"strings"
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
