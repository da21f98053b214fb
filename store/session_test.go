package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/jobs/jobstest"
	"tiebreak/store"
)

func TestSessions(t *testing.T) {
	db := seeded(t, t.TempDir())
	newer := spec("n")
	newer.CreatedAt = t0.Add(time.Nanosecond)
	must.Do(t, db.CreateSession(t.Context(), newer))
	wantKind(t, db.CreateSession(t.Context(), newer), idrl.Conflict)
	wantKind(t, db.CreateSession(t.Context(), spec("")), idrl.Invalid)

	g := generation(0)
	for n := range int64(3) {
		as := assignment(n+1, g.Queries[n], "a1")
		must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
		must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: answer(n+1, as), After: snapshot(n + 1)}))
	}
	must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: idrl.Answer{ID: "u", Seq: 4, Annotator: "a1", Undoes: "id2", ReceivedAt: t0.Add(time.Minute)}, After: snapshot(4)}))

	got := must.Get(db.Sessions(t.Context()))(t)
	want := []record.Summary{{Spec: newer, State: record.StateRunning}, {Spec: spec("s"), State: record.StateRunning, Answers: 2, Last: t0.Add(time.Minute)}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	one := must.Get(db.Spec(t.Context(), "n"))(t)
	if d := cmp.Diff(newer, one); d != "" {
		t.Error(d)
	}
}

func TestAnnotators(t *testing.T) {
	db := seeded(t, t.TempDir())
	must.Do(t, db.CreateSession(t.Context(), spec("other")))
	id, err := db.CreateAnnotator(t.Context(), "other", "")
	must.Do(t, err)
	if id != "a1" {
		t.Errorf("first annotator of a session is %q, want a1", id)
	}
	_, err = db.CreateAnnotator(t.Context(), "x", "")
	wantKind(t, err, idrl.NotFound)
	names, err := db.AnnotatorNames(t.Context(), "s")
	must.Do(t, err)
	if d := cmp.Diff(map[idrl.AnnotatorID]string{"a1": "Ada", "a2": "Ada"}, names); d != "" {
		t.Error(d)
	}
}

func TestMeta(t *testing.T) {
	db := open(t, t.TempDir())
	for _, want := range []string{"", "one", "two"} {
		if want != "" {
			must.Do(t, db.SetMeta(t.Context(), "demo", want))
		}
		if got, err := db.Meta(t.Context(), "demo"); err != nil || got != want {
			t.Errorf("meta = %q, %v; want %q", got, err, want)
		}
	}
}

func TestClips(t *testing.T) {
	db := seeded(t, t.TempDir())
	g := generation(0)
	must.Do(t, db.CreateSession(t.Context(), spec("other")))
	must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{assignment(1, g.Queries[0], "a1"), assignment(2, g.Queries[2], "a2")}))
	for _, test := range []struct {
		session   idrl.SessionID
		annotator idrl.AnnotatorID
		clip      idrl.ClipID
		want      bool
	}{
		{"s", "a1", "c0", true},  // left of the comparison
		{"s", "a1", "c1", true},  // right of it
		{"s", "a1", "c2", false}, // never asked
		{"s", "a2", "c0", false}, // asked of another
		{"s", "a2", "c1", true},  // of the rating
		{"s", "a3", "c0", false},
		{"s", "a1", "c9", false},
		{"other", "a1", "c0", false},
	} {
		got, err := db.AnnotatorMayFetch(t.Context(), test.session, test.annotator, test.clip)
		if err != nil || got != test.want {
			t.Errorf("may %s of %s fetch %s: %t, %v; want %t", test.annotator, test.session, test.clip, got, err, test.want)
		}
	}
	media, err := db.ClipMedia(t.Context(), "s", "c1")
	if err != nil || string(media) != "media of c1" {
		t.Errorf("media = %q, %v", media, err)
	}
	_, err = db.ClipMedia(t.Context(), "other", "c1")
	wantKind(t, err, idrl.NotFound)
}

// The clips of a policy are those of all its episodes, and not of others whose ids begin alike.
func TestPolicyClips(t *testing.T) {
	db := seeded(t, t.TempDir())
	g := generation(1)
	for name, from := range map[string]idrl.TrajectoryID{"n1": "g1.p1", "n2": "g1.p1.1", "n3": "g1.p1.12", "n4": "g1.p11", "n5": "g1.p1.3"} {
		c := clip(name, 1, 2)
		if c.From = from; name == "n5" {
			c.Media = nil // nothing was drawn
		}
		g.Clips[c.ID] = c
	}
	must.Do(t, db.Adopt(t.Context(), "s", g, 0))
	for name, want := range map[idrl.ClipID]string{"n1": "media of n1, media of n2, media of n3", "n4": "media of n4", "n2": "media of n2", "gone": ""} {
		media, err := db.PolicyClips(t.Context(), "s", name)
		if got := string(bytes.Join(media, []byte(", "))); err != nil || got != want {
			t.Errorf("clips of the policy of %s: %q, %v; want %q", name, got, err, want)
		}
	}
}

// A clip recorded without a drawing gets one when it comes back with it.
func TestClipMediaArrivesLater(t *testing.T) {
	db := open(t, t.TempDir())
	must.Do(t, db.CreateSession(t.Context(), spec("s")))
	bare := generation(0)
	for id, c := range bare.Clips {
		c.Media = nil
		bare.Clips[id] = c
	}
	must.Do(t, db.Adopt(t.Context(), "s", bare, 0))
	_, err := db.ClipMedia(t.Context(), "s", "c0")
	wantKind(t, err, idrl.NotFound)
	must.Do(t, db.Adopt(t.Context(), "s", generation(1), 1))
	if media, err := db.ClipMedia(t.Context(), "s", "c0"); err != nil || len(media) == 0 {
		t.Errorf("media = %q, %v", media, err)
	}
}

func TestRows(t *testing.T) {
	db := seeded(t, t.TempDir())
	g := generation(0)
	var want []record.Labelled
	for n, q := range g.Queries {
		as := assignment(int64(n+1), q, "a1")
		must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
		a := answer(int64(n+1), as)
		must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: a, After: snapshot(a.Seq)}))
		r := record.Labelled{Answer: a, Query: q, Why: as.Why, Gold: as.Gold != 0, Withdrawn: n == 1}
		for _, id := range q.Clips {
			r.Clips = append(r.Clips, g.Clips[id])
		}
		want = append(want, r)
	}
	must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: idrl.Answer{ID: "u", Seq: 4, Annotator: "a1", Undoes: "id2", ReceivedAt: t0}, After: snapshot(4)}))

	var got []record.Labelled
	collect := func(r record.Labelled) error {
		got = append(got, r)
		return nil
	}
	must.Do(t, db.Rows(t.Context(), "s", collect))
	if d := cmp.Diff(want, got, journaltest.Same); d != "" {
		t.Error(d)
	}
	wantKind(t, db.Rows(t.Context(), "x", collect), idrl.NotFound)
	enough := errors.New("enough")
	n := 0
	err := db.Rows(t.Context(), "s", func(record.Labelled) error { n++; return enough })
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("after %d rows: %v", n, err)
	}
}

func TestJobs(t *testing.T) {
	jobstest.RunStore(t, func(t *testing.T) jobs.Store {
		db := open(t, t.TempDir())
		for _, id := range []string{"a", "b"} {
			must.Do(t, db.CreateSession(t.Context(), spec(id)))
		}
		return db
	})
}

// What a server that died was at waits when the next one starts, with its checkpoint.
func TestJobsOutliveTheServer(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	ctx, key := t.Context(), record.JobKey{Session: "s", Kind: "train", BasedOn: 3}
	wantKind(t, db.QueueJob(ctx, record.JobRecord{JobKey: record.JobKey{Session: "x", Kind: "train"}}, t0), idrl.NotFound)
	must.Do(t, db.QueueJob(ctx, record.JobRecord{JobKey: key, Priority: record.Urgent, Payload: []byte("what")}, t0))
	_, one, err := db.BeginJob(ctx, key, t0, t0.Add(time.Hour))
	must.Do(t, err)
	must.Do(t, db.SaveJob(ctx, one, []byte("half")))
	must.Do(t, db.Close())
	db = open(t, dir)
	want := record.JobRecord{JobKey: key, Priority: record.Urgent, Payload: []byte("what"), Checkpoint: []byte("half")}
	if got, err := db.WaitingJob(ctx, "s", "train"); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("waiting: %v (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	wantKind(t, db.SaveJob(ctx, one, nil), idrl.Conflict)
	if _, two, err := db.BeginJob(ctx, key, t0, t0.Add(time.Hour)); err != nil || two.Attempt != 2 {
		t.Errorf("attempt %d, %v; want 2", two.Attempt, err)
	}
}

// A clip whose bytes have changed is neither shown nor unnoticed.
func TestADamagedClipIsNotShown(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, seeded(t, dir).Close())
	path := filepath.Join(dir, store.FileName)
	b, err := os.ReadFile(path)
	must.Do(t, err)
	must.Do(t, os.WriteFile(path, bytes.Replace(b, []byte("media of c1"), []byte("media of cx"), 1), 0o600))
	db := open(t, dir)
	_, err = db.ClipMedia(t.Context(), "s", "c1")
	wantKind(t, err, idrl.Damaged)
	if err == nil || !strings.Contains(err.Error(), "c1") {
		t.Errorf("the error does not name the clip: %v", err)
	}
	if media, err := db.ClipMedia(t.Context(), "s", "c2"); err != nil || string(media) != "media of c2" {
		t.Errorf("another clip: %q, %v", media, err)
	}
	for range 2 {
		d, err := db.Check(t.Context(), store.Judge{})
		if want := []string{"clip c1 of session s"}; err != nil || len(d.Pages) > 0 || !slices.Equal(d.Clips, want) {
			t.Errorf("found %+v, %v; want %v", d, err, want)
		}
	}
}
