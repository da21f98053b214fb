package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/web"
)

// zipOf returns a folder as a zip file, in a folder of it.
func zipOf(t *testing.T, folder string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, text := range filesIn(t, folder) {
		w, err := z.Create("pens" + filepath.ToSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// send uploads a file as a program does.
func (s *importingServer) send(path string, content io.Reader, size int64) (int, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.addr+"/api/v1/recordings/uploads/"+path, content)
	if err != nil {
		s.t.Fatal(err)
	}
	req.ContentLength = size
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/octet-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(got)
}

// TestImportOfAnUpload: without a folder that the operator allows, a program uploads a data set and a table of its episodes, and imports them as any
// other. It stays as long as its videos are used. What is no data set is refused, and leaves nothing.
func TestImportOfAnUpload(t *testing.T) {
	t.Parallel()
	s := &importingServer{t: t, data: t.TempDir(), addr: freeAddr(t)}
	s.process = startServer(t, "serve", "--data", s.data, "--addr", s.addr)
	s.getToken()
	folder := t.TempDir()
	manyVideos(t, folder)
	packed := zipOf(t, folder)
	send := func(path string, b []byte) (int, string) { return s.send(path, bytes.NewReader(b), int64(len(b))) }
	if status, got := send("pens", packed); status != http.StatusOK || !strings.Contains(got, `"set":"uploaded/pens"`) {
		t.Fatalf("status %d, %s", status, got)
	}
	s.await(`"state":"there"`)
	if status, got := send("pens", packed); status != http.StatusConflict {
		t.Errorf("the name again: status %d, %s", status, got)
	}
	table := "episode_index,policy\n0,a\n1,a\n2,a\n3,b\n4,b\n5,b\n"
	if status, got := send("who?kind=table", []byte(table)); status != http.StatusOK || !strings.Contains(got, `"set":"uploaded/who/episodes.csv"`) {
		t.Fatalf("status %d, %s", status, got)
	}
	for name, b := range map[string][]byte{"none": []byte("no archive"), "cut": packed[:len(packed)/2]} {
		if status, got := send(name, b); status != http.StatusOK {
			t.Errorf("%s: status %d, %s", name, status, got)
		}
		s.await(`"name":"` + name + `","set":"uploaded/` + name + `","state":"refused"`)
		if _, got := s.ask(http.MethodGet, "", nil); strings.Contains(got, s.data) {
			t.Errorf("a path of the server is told: %s", got)
		}
	}
	for _, name := range []string{"%2e%2e", "a%2Fb", ".new-a", "Pens", "a%00"} {
		if status, got := send(name, packed); status != http.StatusBadRequest && status != http.StatusNotFound {
			t.Errorf("%s: status %d, %s", name, status, got)
		}
	}
	if status, got := s.send("long", strings.NewReader(""), -1); status == http.StatusOK {
		t.Errorf("a size that is not told: status %d, %s", status, got)
	}
	if status, got := s.ask(http.MethodPost, "", map[string]any{"set": "uploaded/pens", "name": "pen", "episodes_csv": "uploaded/who/episodes.csv", "clip_seconds": 0.5}); status != http.StatusOK {
		t.Fatalf("status %d, %s", status, got)
	}
	s.await(`"env":"rollouts-pen"`)
	set, err := recordings.Open(filepath.Join(s.data, recordings.FolderName, "pen"))
	if err != nil {
		t.Fatal(err)
	}
	if _, policies := set.Size(); policies != 2 {
		t.Errorf("there are %d policies", policies)
	}
	var size int64
	for _, text := range filesIn(t, folder) {
		size += int64(len(text))
	}
	s.await(fmt.Sprintf(`"bytes":%d,"recordings":["rollouts-pen"],"imports":[],"sessions":[]`, size))
	if status, got := s.ask(http.MethodDelete, "/uploads/pens", nil); status != http.StatusConflict || !strings.Contains(got, "recordings rollouts-pen show the videos of this upload") {
		t.Errorf("videos that are used can be discarded: status %d, %s", status, got)
	}
	made := mustCLI(t, "session", "create", "--data", s.data, "--env", "rollouts-pen")
	s.await(`"sessions":["` + strings.Fields(made)[1] + `"]`)
	for name, want := range map[string]int{"none": http.StatusOK, "nowhere": http.StatusNotFound, "%2e%2e": http.StatusNotFound} {
		if status, got := s.ask(http.MethodDelete, "/uploads/"+name, nil); status != want {
			t.Errorf("discarding %s: status %d, %s", name, status, got)
		}
	}
	entries, err := os.ReadDir(filepath.Join(s.data, uploadsFolder))
	if err != nil || len(entries) != 2 {
		t.Errorf("%v is left, %v", entries, err)
	}
	d, err := newUploadDesk(s.data, func() uint64 { return 10 }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.discard("pens"); err == nil || !strings.Contains(err.Error(), "recordings rollouts-pen show the videos of this upload") {
		t.Errorf("videos that are used can be discarded: %v", err)
	}
	if status, got := s.ask(http.MethodDelete, "/uploads/who", nil); status != http.StatusOK || got != `{"name":"who"}`+"\n" {
		t.Errorf("discarding the table: status %d, %s", status, got)
	}
	if _, err := os.Stat(filepath.Join(s.data, uploadsFolder, "who")); err == nil {
		t.Error("the table is still there")
	}
	if _, err := d.begin(web.Upload{Name: "some", Bytes: 6}); err != nil {
		t.Error(err)
	}
	if _, err := d.begin(web.Upload{Name: "more", Bytes: 6}); err == nil || !strings.Contains(err.Error(), "rollouts-space") {
		t.Errorf("two uploads at once, which together are too large for the disk, are taken: %v", err)
	}
	if d.sees("somebody", "uploaded/pens") || !d.sees("", "uploaded/pens") || d.sees("", "uploaded/who/episodes.csv") || !d.sees("somebody", "shelf/pens") {
		t.Error("uploads are read by others than those who sent them, or not by these")
	}
}

// TestKillServerWhileItReceives: what was sent to a server that is killed is gone after its next start, and the name is free.
func TestKillServerWhileItReceives(t *testing.T) {
	t.Parallel()
	s := startImporting(t)
	from, to := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.send("pens", from, 1<<20)
	}()
	if _, err := to.Write(make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(s.data, uploadsFolder, uploadMade+"pens", "archive")
	waittest.Until(t, "the first bytes", func() bool {
		info, err := os.Stat(part)
		return err == nil && info.Size() > 0
	})
	if status, got := s.ask(http.MethodGet, "", nil); status != http.StatusOK || !strings.Contains(got, "It is being received.") {
		t.Errorf("status %d, %s", status, got)
	}
	s.kill()
	_ = to.CloseWithError(io.ErrUnexpectedEOF)
	<-ended
	s.start()
	s.await(`"uploads":[]`)
	if entries, err := os.ReadDir(filepath.Join(s.data, uploadsFolder)); err != nil || len(entries) != 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
	b := zipOf(t, s.shelf+"/pens")
	if status, got := s.send("pens", bytes.NewReader(b), int64(len(b))); status != http.StatusOK {
		t.Errorf("status %d, %s", status, got)
	}
	s.await(`"state":"there"`)
}

// TestDiscardOfAnUploadThatIsRead: an upload stays while an import reads it or its table, and as long as one that was interrupted can go on with it; and while a
// set of recordings cannot be read, which may show it. A part of it counts as it does.
func TestDiscardOfAnUploadThatIsRead(t *testing.T) {
	data := t.TempDir()
	m := must.Get(newImportDesk(data, recordings.Folders{}, func() uint64 { return 1 << 30 }, slog.New(slog.DiscardHandler)))(t)
	for _, name := range []string{"pens", "who"} {
		must.Do(t, os.MkdirAll(filepath.Join(data, uploadsFolder, name), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(data, uploadsFolder, name, uploadNote), []byte(`{"owner":"bo","bytes":12}`), 0o600))
	}
	state := func(set, table string) web.ImportState {
		return web.ImportState{Ask: web.ImportAsk{Set: set, Values: map[string]string{"name": "pen", "episodes_csv": table}}}
	}
	under, stopped, ended := state("uploaded/pens", "uploaded/who/episodes.csv"), state("uploaded/pens/in", "uploaded/who/episodes.csv"), state("uploaded/pens", "uploaded/who/episodes.csv")
	under.Says, stopped.Again = "It begins.", true
	for _, s := range []web.ImportState{under, stopped} {
		m.list = []web.ImportState{s}
		for _, name := range []string{"pens", "who"} {
			if err := m.Discard(name); idrl.KindOf(err) != idrl.Conflict || !strings.Contains(err.Error(), "the import pen reads this upload") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if list := must.Get(m.Uploads("bo"))(t); len(list) != 2 || !slices.Equal(list[0].Imports, []string{"pen"}) || list[1].Bytes != 12 {
			t.Errorf("uploads: %+v", list)
		}
	}
	m.list = []web.ImportState{ended, state("shelf/pens", ""), state("uploaded/pens2", "")}
	damaged := filepath.Join(data, recordings.FolderName, "damaged")
	must.Do(t, os.MkdirAll(damaged, 0o700))
	if err := m.Discard("pens"); err == nil || !strings.Contains(err.Error(), "which videos are used is not known") {
		t.Errorf("beside a set that cannot be read: %v", err)
	}
	if list := must.Get(m.Uploads(""))(t); len(list) != 2 {
		t.Errorf("beside a set that cannot be read: %+v", list)
	}
	must.Do(t, os.RemoveAll(damaged))
	for _, name := range []string{"pens", "who"} {
		must.Do(t, m.Discard(name))
	}
	if left := must.Get(os.ReadDir(filepath.Join(data, uploadsFolder)))(t); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}
