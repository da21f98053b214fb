package web_test

import (
	"archive/zip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/clip/tapetest"
	"tiebreak/internal/session/view"
	"tiebreak/web"
)

// record puts two clips, a question about them leased to annotator a1, and an
// answer into the database of session s1, and a third clip that nobody was
// asked about.
func (b *bench) record() {
	b.t.Helper()
	ctx, now := b.t.Context(), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	clip := func(id idrl.ClipID, phi ...float64) idrl.Clip {
		return idrl.Clip{ID: id, Steps: 5, Phi: phi, Media: []byte("MEDIA-" + id)}
	}
	a, c, other := clip("c1", 1, 2), clip("c2", 3, -4), clip("c3", 0, 0)
	q := idrl.NewComparison(a, c)
	g := idrl.Generation{
		Candidates: []idrl.Candidate{{ID: secretPolicy, Origin: idrl.FromMean, Theta: []float64{1, 1}, Mu: []float64{1, 1}, Clip: "c3"}},
		Clips:      map[idrl.ClipID]idrl.Clip{"c1": a, "c2": c, "c3": other},
		Queries:    []idrl.Query{q},
	}
	as := record.Assignment{
		ID: "s1.1", N: 1, Query: q, Annotator: "a1", Left: idrl.SideB, IssuedAt: now, LeaseUntil: now.Add(time.Hour),
		Why: record.Why{First: secretPolicy, Second: secretPolicy + "2", PairStd: 0.5, Info: 0.25},
	}
	row := idrl.Answer{
		ID: "id1", Seq: 1, Assignment: as.ID, Query: q.ID, Annotator: "a1", Choice: idrl.ChoseB, Left: idrl.SideB,
		ShownAt: now, AnsweredAt: now, ReceivedAt: now, ResponseMS: 900, Input: "mouse", Instructions: 1,
	}
	for _, err := range []error{
		b.db.Adopt(ctx, "s1", g, 0),
		b.db.Issue(ctx, "s1", []record.Assignment{as}),
		b.db.Append(ctx, "s1", record.Row{Answer: row, After: record.Snapshot{Seq: 1, Belief: []byte("x")}}),
	} {
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// What was learnt is shown to the annotators of the session, by the clips of two policies
// that nobody was asked about, where the researcher allows it.
func TestEffect(t *testing.T) {
	b := newBench(t, nil)
	mine, stranger := b.annotator("s1"), b.annotator("s2")
	b.record()
	if r := b.get(mine, "/sessions/s1/learnt/now"); r.status != 404 || strings.Contains(r.body, "MEDIA") {
		t.Errorf("where it is not allowed: status %d, %q", r.status, r.body)
	}
	b.s1.set(live.EventAnswered, func() { b.s1.effect = view.Effect{Before: "c1", Now: "c3"} })
	for _, test := range []struct {
		name, when string
		browser    *http.Client
		status     int
		body       string
	}{
		{"before", "before", mine, 200, "MEDIA-c1"},
		{"now", "now", mine, 200, "MEDIA-c3"},
		{"another word", "c3", mine, 404, ""},
		{"of another session", "now", stranger, 403, ""},
		{"by nobody", "now", b.browser(), 403, ""},
	} {
		r := b.get(test.browser, "/sessions/s1/learnt/"+test.when)
		if r.status != test.status || test.body != "" && r.body != test.body || test.body == "" && strings.Contains(r.body, "MEDIA") {
			t.Errorf("%s: status %d, %q", test.name, r.status, r.body)
		}
		if test.status == 200 && r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q; it changes with the next answer", test.name, r.header.Get("Cache-Control"))
		}
	}
}

func TestClips(t *testing.T) {
	b := newBench(t, nil)
	mine, researcher := b.annotator("s1"), b.researcher()
	colleague, stranger := b.annotator("s1"), b.annotator("s2")
	b.record()
	for _, test := range []struct {
		name    string
		browser *http.Client
		clip    string
		status  int
	}{
		{"of my question", mine, "c1", 200},
		{"that nobody was asked about", mine, "c3", 404},
		{"of a colleague's question", colleague, "c1", 404},
		{"of another session", stranger, "c1", 403},
		{"by a researcher", researcher, "c3", 200},
		{"that does not exist", researcher, "c4", 404},
		{"with an impossible name", researcher, "..%2f..%2fetc", 404},
	} {
		r := b.get(test.browser, "/sessions/s1/clips/"+test.clip)
		if r.status != test.status {
			t.Errorf("clip %s: status %d, want %d", test.name, r.status, test.status)
		}
		if keep := strings.Contains(r.header.Get("Cache-Control"), "immutable"); keep != (test.status == 200) {
			t.Errorf("clip %s: Cache-Control %q", test.name, r.header.Get("Cache-Control"))
		}
	}
	r := b.get(mine, "/sessions/s1/clips/c1")
	if r.body != "MEDIA-c1" || r.header.Get("Content-Type") != "application/octet-stream" || !strings.HasPrefix(r.header.Get("Cache-Control"), "private") {
		t.Errorf("clip = %q with headers %v", r.body, r.header)
	}
	again := b.send(mine, "GET", "/sessions/s1/clips/c1", nil, http.Header{"If-None-Match": {r.header.Get("ETag")}})
	if again.status != http.StatusNotModified || again.body != "" {
		t.Errorf("unchanged clip: status %d", again.status)
	}
}

// A browser gets the video of a clip that it plays, and only who may see the clip.
func TestClipsOfVideo(t *testing.T) {
	b := newBench(t, nil)
	mine, researcher := b.annotator("s1"), b.researcher()
	media := must.Get(clip.Encode(tapetest.Small(), tapetest.Clip(3)))(t)
	film := idrl.Clip{ID: "f1", From: "t1", Steps: 3, Phi: []float64{1, 0}, Media: media}
	must.Do(t, b.db.Adopt(t.Context(), "s1", idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{film.ID: film}}, 0))
	tags := map[string]bool{}
	for _, test := range []struct {
		query  string
		video  string
		stills int
	}{
		{"", "", 3},
		{"?plays=", "", 3},
		{"?plays=av01", "", 3},
		{"?plays=avc1", tapetest.H264, 1},
		{"?plays=avc1,vp09", tapetest.VP9, 1},
		{"?plays=avc1%22,vp09", "", 3},
	} {
		r := b.get(researcher, "/sessions/s1/clips/f1"+test.query)
		c, err := clip.Decode([]byte(r.body))
		if err != nil {
			t.Fatalf("%q: status %d, %v", test.query, r.status, err)
		}
		var got string
		if len(c.Videos) > 0 {
			got = c.Header.Videos[0].Type
		}
		if got != test.video || len(c.Videos) > 1 || len(c.Pictures) != test.stills || !strings.Contains(r.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%q: video %q, %d stills, Cache-Control %q", test.query, got, len(c.Pictures), r.header.Get("Cache-Control"))
		}
		tag := r.header.Get("ETag")
		tags[tag] = true
		if again := b.send(researcher, "GET", "/sessions/s1/clips/f1"+test.query, nil, http.Header{"If-None-Match": {tag}}); again.status != http.StatusNotModified {
			t.Errorf("%q: unchanged clip: status %d", test.query, again.status)
		}
	}
	if len(tags) != 4 {
		t.Errorf("the tags of what differs are %v", tags)
	}
	if r := b.get(mine, "/sessions/s1/clips/f1?plays=avc1"); r.status != 404 || strings.Contains(r.body, "ftyp") {
		t.Errorf("an annotator who was not asked about the clip gets status %d and %d bytes", r.status, len(r.body))
	}
}

func TestExport(t *testing.T) {
	b := newBench(t, nil)
	b.annotator("s1")
	b.record()
	c := b.researcher()
	r := b.get(c, "/sessions/s1/export?format=csv")
	records, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	if err != nil || len(records) != 2 {
		t.Fatalf("records %v, error %v", records, err)
	}
	got := map[string]string{}
	for i, name := range records[0] {
		got[name] = records[1][i]
	}
	for name, want := range map[string]string{
		"label_id": "id1", "choice": "b", "prob_a": "0", "left": "b", "response_ms": "900", "annotator_id": "a1", "withdrawn": "false",
		"features_a_lane": "1", "features_b_speed": "-4", "policy_1": secretPolicy, "info_nats": "0.25",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	if d := r.header.Get("Content-Disposition"); !strings.Contains(d, "tiebreak-s1.csv") {
		t.Errorf("Content-Disposition = %q", d)
	}
	if strings.Contains(r.body, secretOther) {
		t.Error("the export names the annotator")
	}
	must.Do(t, b.db.DecideAnswers(t.Context(), "s1", "a1", idrl.LeftOut, "Ada", time.Now()))
	if r := b.get(c, "/sessions/s1/export"); r.status != 200 || r.body != "" {
		t.Errorf("answers that are left out: status %d: %s", r.status, r.body)
	}
	if r := b.get(c, "/sessions/s1/export?all=1"); r.lacks(`"left_out":true`) != nil {
		t.Errorf("all answers: %s", r.body)
	}
	must.Do(t, b.db.DecideAnswers(t.Context(), "s1", "a1", idrl.TakenIn, "Ada", time.Now()))
	if r := b.get(c, "/sessions/s1/export"); r.header.Get("Content-Type") != "application/jsonl" || !strings.HasPrefix(r.body, `{"label_id":"id1"`) {
		t.Errorf("default format: %v: %s", r.header, r.body)
	}
}

// fakeLearnt has files of session s1 alone.
type fakeLearnt struct{}

func (fakeLearnt) LearntFiles(_ context.Context, id idrl.SessionID) ([]export.File, error) {
	if id != "s1" {
		return nil, idrl.Errorf(idrl.NotFound, "session %s has no reward network yet", id)
	}
	return []export.File{{Name: "index.json", Content: []byte("{}")}, {Name: "reward.safetensors", Content: []byte{1, 0, 2}}}, nil
}

func TestExportOfNetworks(t *testing.T) {
	b := newBench(t, nil)
	annotator, c := b.annotator("s1"), b.researcher()
	const path = "/sessions/s1/export?format=networks"
	r := b.get(c, path)
	z, err := zip.NewReader(strings.NewReader(r.body), int64(len(r.body)))
	if err != nil || len(z.File) != 2 || !strings.Contains(r.header.Get("Content-Disposition"), "tiebreak-s1.zip") {
		t.Fatalf("status %d, headers %v, error %v", r.status, r.header, err)
	}
	f, err := z.Open("tiebreak-s1/reward.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(f); err != nil || string(content) != "\x01\x00\x02" {
		t.Errorf("content %q, error %v", content, err)
	}
	if again := b.get(c, path); again.body != r.body {
		t.Error("the same files make other bytes")
	}
	if r := b.get(annotator, path); r.status != 403 {
		t.Errorf("an annotator: status %d", r.status)
	}
	if r := b.get(b.browser(), path); r.status != 403 {
		t.Errorf("without a login: status %d", r.status)
	}
	if r := b.get(c, "/sessions/s2/export?format=networks"); r.status != 404 || r.lacks("no reward network yet") != nil || r.header.Get("Content-Disposition") != "" {
		t.Errorf("without a network: status %d, %v", r.status, r.header)
	}
	if r := b.get(c, "/sessions/s1/data"); r.lacks(`data-export="networks"`, path) != nil {
		t.Errorf("the page has no link: %v", r.lacks(path))
	}
}

// brokenExports fails after enough rows to fill every buffer.
type brokenExports struct {
	noLog
	rows int
}

func (brokenExports) Participants(context.Context, idrl.SessionID) (map[idrl.AnnotatorID]record.Participant, error) {
	return map[idrl.AnnotatorID]record.Participant{}, nil
}

func (e brokenExports) Rows(_ context.Context, _ idrl.SessionID, yield func(record.Labelled) error) error {
	for range e.rows {
		if err := yield(record.Labelled{Answer: idrl.Answer{ID: "x"}}); err != nil {
			return err
		}
	}
	return errors.New("SECRET-FAULT")
}

func TestExportThatFails(t *testing.T) {
	for _, rows := range []int{0, 10000} {
		b := newBench(t, func(c *web.Config) { c.Exports = brokenExports{rows: rows} })
		req, err := http.NewRequestWithContext(t.Context(), "GET", b.url+"/sessions/s1/export?format=csv", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := b.researcher().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if rows == 0 && (res.StatusCode != 500 || res.Header.Get("Content-Disposition") != "") {
			t.Errorf("failed at once: status %d, headers %v", res.StatusCode, res.Header)
		}
		if rows > 0 && err == nil {
			t.Error("half an export looks like a whole one")
		}
	}
}

// fakeBundles has a bundle of s1 alone, which ends too soon after answer "cut".
type fakeBundles struct{}

func (fakeBundles) WriteBundle(_ context.Context, id idrl.SessionID, w io.Writer, opt bundle.Options) error {
	if id != "s1" || opt.After == "none" {
		return idrl.Errorf(idrl.NotFound, "no answer %q", opt.After)
	}
	_, err := fmt.Fprintf(w, "zip of %s after %s with clips %s", id, opt.After, opt.Clips)
	if opt.After == "cut" {
		return errors.New("the disk is gone")
	}
	return err
}

func (fakeBundles) WriteLabels(_ context.Context, id idrl.SessionID, w io.Writer, share float64) error {
	_, err := fmt.Fprintf(w, "labels of %s with %g good", id, share)
	return err
}

func TestExportOfLabels(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	const path = "/sessions/s1/export?format=lerobot"
	for query, want := range map[string]string{"": "labels of s1 with 0.5 good", "&good_share=0.25": "labels of s1 with 0.25 good"} {
		r := b.get(c, path+query)
		if r.body != want || r.header.Get("Content-Type") != "application/zip" || !strings.Contains(r.header.Get("Content-Disposition"), "tiebreak-s1-labels.zip") {
			t.Errorf("%s: %d %v %s", query, r.status, r.header, r.body)
		}
	}
	for _, share := range []string{"0", "1.01", "NaN", "half"} {
		if r := b.get(c, path+"&good_share="+share); r.status != 400 || r.header.Get("Content-Disposition") != "" {
			t.Errorf("a share of %s: status %d, %v", share, r.status, r.header)
		}
	}
	if r := b.get(b.annotator("s1"), path); r.status == 200 {
		t.Error("an annotator gets the labels")
	}
	if r := b.get(c, "/sessions/s1/data"); r.lacks(`data-export="lerobot"`) == nil {
		t.Error("a session that is about no recordings has a link to their labels")
	}
}

func TestExportOfBundles(t *testing.T) {
	b := newBench(t, nil)
	annotator, c := b.annotator("s1"), b.researcher()
	const path = "/sessions/s1/export?format=bundle"
	r := b.get(c, path+"&after=7&clips=gif")
	if r.body != "zip of s1 after 7 with clips gif" || r.header.Get("Content-Type") != "application/zip" || !strings.Contains(r.header.Get("Content-Disposition"), "tiebreak-s1-bundle.zip") {
		t.Errorf("%d %v %s", r.status, r.header, r.body)
	}
	for query, status := range map[string]int{"&after=none": 404, "&clips=mp4": 400} {
		if r := b.get(c, path+query); r.status != status || r.header.Get("Content-Disposition") != "" {
			t.Errorf("%s: status %d, want %d; %v", query, r.status, status, r.header)
		}
	}
	if r := b.get(annotator, path); r.status == 200 {
		t.Error("an annotator gets the bundle")
	}
	if r := b.get(c, "/sessions/s1"); r.lacks(`data-export="bundle"`, path) != nil {
		t.Error("the page has no link to the bundle")
	}
	unlock := web.Bundling(b.web)
	if r := b.get(c, path); r.status != 503 || r.lacks("Try again in a minute") != nil {
		t.Errorf("two at once: %d %s", r.status, r.body)
	}
	unlock()
	if r := b.get(c, path); r.status != 200 {
		t.Errorf("afterwards: %d", r.status)
	}
}
