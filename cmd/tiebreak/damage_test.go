package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// A labelledFolder is a data folder with a session of the demo that an expert has labelled,
// and the address of an annotator's link.
type labelledFolder struct {
	dir     string
	session idrl.SessionID
	export  string   // of the answers
	worker  []string // command line; default this program's
}

// labelledOnce is the folder that newLabelledFolder copies, made by the first test that needs it.
var labelledOnce struct {
	sync.Once
	labelledFolder
}

// newLabelledFolder returns a folder of a session with seven answers, for one test.
func newLabelledFolder(t *testing.T) labelledFolder {
	t.Helper()
	labelledOnce.Do(func() {
		dir := must.Get(scratch())(t)
		labelledOnce.labelledFolder = labelFolder(t, filepath.Join(dir, "labelled"))
	})
	s := labelledOnce.labelledFolder
	if s.export == "" {
		t.Fatal("the session could not be labelled: another test says why")
	}
	s.dir = t.TempDir()
	must.Do(t, os.CopyFS(s.dir, os.DirFS(labelledOnce.dir)))
	return s
}

// labelFolder labels a session with seven answers in a server that is closed again.
func labelFolder(t *testing.T, dir string) labelledFolder {
	t.Helper()
	s := labelledFolder{dir: dir}
	s.serve(t, envs.Catalogue(), func(a *app, base string) {
		join, err := a.openDemo(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		status, _, stderr := cli(t, "simulate", "--url", base+"/join/"+join, "--answers", "7", "--seed", "4")
		if status != 0 {
			t.Fatalf("simulate: status %d, %s", status, stderr)
		}
		list, err := a.db.Sessions(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("sessions: %v, %v", list, err)
		}
		s.session = list[0].Spec.ID
	})
	_, s.export, _ = cli(t, "export", "--data", s.dir, "--session", string(s.session))
	if strings.Count(s.export, "\n") != 7 {
		t.Fatalf("the export has not seven lines:\n%s", s.export)
	}
	return s
}

// serve runs f beside a server on the study's folder.
func (s labelledFolder) serve(t *testing.T, list envs.List, f func(a *app, base string)) (log string) {
	t.Helper()
	var logged syncBuffer
	worker := s.worker
	if worker == nil {
		worker = []string{program(t), "worker"}
	}
	a := must.Get(openApp(t.Context(), s.dir, func() envs.List { return list }, site{}, slog.New(slog.NewTextHandler(&logged, nil)), worker...))(t)
	server := httptest.NewServer(a.web)
	defer func() {
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		defer cancel()
		if err := a.web.Drain(ctx); err != nil {
			t.Error(err)
		}
		server.Close()
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	f(a, server.URL)
	return logged.String()
}

// damage overwrites every occurrence of old in the database by new of the same
// length, and returns how many there were.
func (s labelledFolder) damage(t *testing.T, old, replacement []byte) int {
	t.Helper()
	path := filepath.Join(s.dir, store.FileName)
	b := must.Get(os.ReadFile(path))(t)
	n := bytes.Count(b, old)
	must.Do(t, os.WriteFile(path, bytes.ReplaceAll(b, old, replacement), 0o600))
	return n
}

func get(t *testing.T, c *http.Client, url string) (status int, header http.Header, body string) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	res := must.Get(c.Do(req))(t)
	defer res.Body.Close()
	b := must.Get(io.ReadAll(res.Body))(t)
	return res.StatusCode, res.Header, string(b)
}

func TestDoctorOnASoundFolder(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	for _, when := range []string{"alone", "beside a server"} {
		check := func() {
			status, text, stderr := cli(t, "doctor", "--data", s.dir)
			if status != 0 || strings.Count(text, " sound\n") != 4 {
				t.Errorf("%s: status %d\n%s%s", when, status, text, stderr)
			}
		}
		if when == "alone" {
			check()
		} else {
			s.serve(t, envs.Catalogue(), func(*app, string) { check() })
		}
	}
	if status, _, stderr := cli(t, "doctor", "--data", t.TempDir()); status != 1 || !strings.Contains(stderr, "--data") {
		t.Errorf("a folder without a study: status %d, %s", status, stderr)
	}
}

// TestDamagedBeliefsInAStudy: with every stored belief overwritten the session goes
// on, answers and export are what they were, and doctor says that nothing is lost.
func TestDamagedBeliefsInAStudy(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	if n := s.damage(t, []byte("TBEL"), []byte{0, 0, 0, 0}); n < 2 {
		t.Fatalf("%d beliefs overwritten, want at least 2", n)
	}
	status, text, stderr := cli(t, "doctor", "--data", s.dir)
	if status != 0 || !strings.Contains(text, "1 of 1 stored posteriors are damaged") {
		t.Errorf("doctor: status %d\n%s%s", status, text, stderr)
	}
	log := s.serve(t, envs.Catalogue(), func(a *app, base string) {
		join := must.Get(a.openDemo(t.Context()))(t)
		if status, out, stderr := cli(t, "simulate", "--url", base+"/join/"+join, "--answers", "2", "--seed", "5"); status != 0 {
			t.Errorf("simulate: status %d\n%s%s", status, out, stderr)
		}
	})
	if strings.Count(log, "stored posteriors are damaged") != 1 {
		t.Errorf("the log does not say once that beliefs are damaged:\n%s", log)
	}
	if _, now, _ := cli(t, "export", "--data", s.dir, "--session", string(s.session)); !strings.HasPrefix(now, s.export) || strings.Count(now, "\n") != 9 {
		t.Errorf("the export lost something:\n%s\nwas\n%s", now, s.export)
	}
	if _, text, _ := cli(t, "doctor", "--data", s.dir); !strings.Contains(text, "Posterior sound") { // the next ones stand in the place of the damaged one
		t.Errorf("doctor after two answers more:\n%s", text)
	}
}

// researcher returns a browser that is signed in at a server.
func researcher(t *testing.T, a *app, base string) *http.Client {
	t.Helper()
	token := must.Get(a.auth.NewResearcherLink(t.Context(), "Ada"))(t)
	jar := must.Get(cookiejar.New(nil))(t)
	c := &http.Client{Jar: jar}
	res := must.Get(c.PostForm(base+"/signin", url.Values{"token": {token}}))(t)
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Fatalf("sign-in: %s", res.Status)
	}
	return c
}

// TestAMissingEnvironmentPausesItsSession: where the environment of a session is not,
// its answers can be seen and exported, and everybody is told why it stands still.
func TestAMissingEnvironmentPausesItsSession(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	without := slices.DeleteFunc(envs.Catalogue(), func(e envs.Entry) bool { return e.ID == "driver" })
	s.serve(t, without, func(a *app, base string) {
		ada, page := researcher(t, a, base), base+"/sessions/"+string(s.session)
		for url, says := range map[string]string{
			page: "Unknown environment", base + "/sessions": "Cannot run on this server.", page + "/export?format=jsonl": s.export,
		} {
			if status, _, body := get(t, ada, url); status != 200 || !strings.Contains(body, says) {
				t.Errorf("%s: status %d, does not say %q:\n%s", url, status, says, body)
			}
		}
		token := must.Get(a.auth.NewInvitation(t.Context(), s.session, 1, time.Hour))(t)
		status, _, stderr := cli(t, "simulate", "--url", base+"/join/"+token, "--answers", "1")
		if status != 1 || !strings.Contains(stderr, "The environment or files of the session are missing on this server, or have changed") {
			t.Errorf("simulate: status %d, %s", status, stderr)
		}
	})
}

// damagePage overwrites the page of the database that holds some bytes.
func (s labelledFolder) damagePage(t *testing.T, with string) {
	t.Helper()
	path := filepath.Join(s.dir, store.FileName)
	b := must.Get(os.ReadFile(path))(t)
	at := bytes.Index(b, []byte(with))
	if at < 0 {
		t.Fatalf("no %q in the database", with)
	}
	const page = 4096
	copy(b[at/page*page:], bytes.Repeat([]byte{0xa5}, page/2))
	must.Do(t, os.WriteFile(path, b, 0o600))
}

// TestDamagedAnswersStopOnlyTheirSession: the server starts, says what is damaged
// wherever somebody looks, and serves what can be read.
func TestDamagedAnswersStopOnlyTheirSession(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	var other idrl.SessionID
	s.serve(t, envs.Catalogue(), func(a *app, _ string) {
		var err error
		if other, err = (sessions{a}).Create(t.Context(), demoSpec(), "", false); err != nil {
			t.Fatal(err)
		}
	})
	var second struct {
		ID string `json:"label_id"`
	}
	if err := json.Unmarshal([]byte(strings.Split(s.export, "\n")[1]), &second); err != nil || second.ID == "" {
		t.Fatalf("no id in %s (%v)", s.export, err)
	}
	s.damagePage(t, string(s.session)+"\x02"+second.ID) // as SQLite writes (session, 2, id): a row of the table and not of an index

	log := s.serve(t, envs.Catalogue(), func(a *app, base string) {
		ada := researcher(t, a, base)
		for _, test := range []struct {
			path   string
			status int
			says   []string
		}{
			{"/healthz", 200, []string{"ok"}},
			{"/readyz", 503, []string{"the database is damaged: "}},
			{"/sessions", 200, []string{"data-problem>", "tiebreak doctor", "Cannot run on this server.", "cannot be counted"}},
			{"/sessions/" + string(s.session), 200, []string{"data-paused", "A part of the database is damaged and cannot be read.", "Not all answers can be read"}},
			{"/sessions/" + string(other), 200, []string{"data-problem>", "data-watch"}},
			{"/sessions/" + string(other) + "/export", 200, nil},
		} {
			status, _, body := get(t, ada, base+test.path)
			if status != test.status {
				t.Errorf("%s: status %d, want %d:\n%s", test.path, status, test.status, body)
			}
			for _, says := range test.says {
				if !strings.Contains(body, says) {
					t.Errorf("%s does not say %q:\n%s", test.path, says, body)
				}
			}
		}
		for _, p := range a.db.Problems(t.Context()) {
			if strings.Contains(p.Reason, s.dir) {
				t.Errorf("%q names the folder to everybody", p.Reason)
			}
		}
	})
	if !strings.Contains(log, "damaged") {
		t.Errorf("the log says nothing of damage:\n%s", log)
	}
	status, text, stderr := cli(t, "doctor", "--data", s.dir)
	if status != 1 || !strings.Contains(text, "table answer: ") || !strings.Contains(text, "Clips     sound") || !strings.Contains(stderr, "tiebreak recover --data") {
		t.Errorf("doctor: status %d\n%s%s", status, text, stderr)
	}
}

// TestADamagedClipIsNotServed: it is neither shown nor kept by a browser, and doctor
// names it.
func TestADamagedClipIsNotServed(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	clips, media := s.clips(t)
	path := filepath.Join(s.dir, store.FileName)
	b := must.Get(os.ReadFile(path))(t)
	at := bytes.Index(b, media[:100])
	if at < 0 {
		t.Fatal("the clip is not in the file")
	}
	b[at+60] ^= 1
	must.Do(t, os.WriteFile(path, b, 0o600))
	log := s.serve(t, envs.Catalogue(), func(a *app, base string) {
		ada := researcher(t, a, base)
		at := func(clip idrl.ClipID) string {
			return base + "/sessions/" + string(s.session) + "/clips/" + string(clip)
		}
		status, header, body := get(t, ada, at(clips[0]))
		if status != 500 || header.Get("Cache-Control") != "no-store" || header.Get("ETag") != "" || !strings.Contains(body, "This clip is damaged") {
			t.Errorf("damaged clip: status %d, headers %v\n%s", status, header, body)
		}
		status, header, _ = get(t, ada, at(clips[1]))
		if status != 200 || !strings.Contains(header.Get("Cache-Control"), "immutable") {
			t.Errorf("sound clip: status %d, headers %v", status, header)
		}
		if status, _, body := get(t, ada, base+"/readyz"); status != 200 {
			t.Errorf("readyz: status %d, %s", status, body)
		}
	})
	if !strings.Contains(log, string(clips[0])) || strings.Contains(log, string(clips[1])) {
		t.Errorf("the log does not name the clip alone:\n%s", log)
	}
	films := t.TempDir()
	status, out, stderr := cli(t, "clips", "--data", s.dir, "--session", string(s.session), "--format", "png", "--out", films)
	if files, _ := os.ReadDir(films); status != 1 || len(files) < 1 || !strings.Contains(stderr, "because clips are damaged: 1, the first clip is "+string(clips[0])) {
		t.Errorf("clips: status %d, %d files, %s%s", status, len(files), out, stderr)
	}
	status, text, stderr := cli(t, "doctor", "--data", s.dir)
	if want := "clip " + string(clips[0]) + " of session " + string(s.session); status != 1 || !strings.Contains(text, want) || !strings.Contains(text, "Database  sound") {
		t.Errorf("doctor: status %d, does not say %q\n%s%s", status, want, text, stderr)
	}
}

// clips returns the clips of the first answer, and the media of the first.
func (s labelledFolder) clips(t *testing.T) (ids []idrl.ClipID, media []byte) {
	t.Helper()
	db, err := store.OpenReadOnly(t.Context(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Rows(t.Context(), s.session, func(l record.Labelled) error {
		if ids == nil {
			ids = l.Query.Clips
		}
		return nil
	})
	if err == nil {
		media, err = db.ClipMedia(t.Context(), s.session, ids[0])
	}
	if err != nil || len(ids) != 2 || len(media) < 100 {
		t.Fatalf("%d clips, %d bytes: %v", len(ids), len(media), err)
	}
	return ids, media
}
