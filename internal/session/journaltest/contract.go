package journaltest

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Same compares records. What no journal keeps is left out.
var Same = cmp.Options{
	cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(idrl.Clip{}, "Media", "Snapshots"), cmpopts.IgnoreFields(idrl.Candidate{}, "Policy"),
}

// Run holds journals to the contract of record.Journal. open returns one that holds
// session "s", of Spec("s"), which annotators "a1" and "a2" have joined, and no other.
func Run(t *testing.T, open func(t *testing.T) record.Journal) {
	for _, test := range []struct {
		name string
		run  func(b *bench)
	}{
		{"nothing yet", (*bench).nothing},
		{"what is written is loaded", (*bench).roundTrip},
		{"append refuses", (*bench).appendRefuses},
		{"rows are all or nothing", (*bench).allOrNothing},
		{"an answer is withdrawn once", (*bench).withdrawnOnce},
		{"a query keeps the order of its clips", (*bench).order},
		{"groups of clips", (*bench).groups},
		{"issue refuses", (*bench).issueRefuses},
		{"renew refuses", (*bench).renewRefuses},
		{"adopt again", (*bench).adoptAgain},
		{"adopt refuses", (*bench).adoptRefuses},
		{"a generation is extended", (*bench).extends},
		{"extend refuses", (*bench).extendRefuses},
		{"fits follow one another", (*bench).fits},
		{"past trainings are listed", (*bench).trainings},
		{"raw steps are kept", (*bench).steps},
		{"drawings are kept", (*bench).media},
		{"places of clips are listed", (*bench).places},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(&bench{T: t, open: open, Journal: open(t)}) })
	}
}

// bench is one test of one journal.
type bench struct {
	*testing.T
	record.Journal
	open func(t *testing.T) record.Journal
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// refused fails unless err is of kind k.
func (b *bench) refused(err error, k idrl.Kind) {
	b.Helper()
	if err == nil || idrl.KindOf(err) != k {
		b.Errorf("error = %v (kind %d), want kind %d", err, idrl.KindOf(err), k)
	}
}

func (b *bench) load() record.Record {
	b.Helper()
	r, err := b.Load(b.Context(), "s")
	b.must(err)
	return r
}

func (b *bench) appendRow(a idrl.Answer, next ...record.Assignment) error {
	return b.Append(b.Context(), "s", record.Row{Answer: a, After: Snapshot(a.Seq), Next: next})
}

func (b *bench) issue(as ...record.Assignment) error { return b.Issue(b.Context(), "s", as) }

func (b *bench) adopt(g idrl.Generation, seq int64) error { return b.Adopt(b.Context(), "s", g, seq) }

// each runs f for every kind of refusal, on a journal of its own with a generation.
func (b *bench) each(refusals []string, f func(b *bench, i int)) {
	for i, name := range refusals {
		b.Run(name, func(t *testing.T) {
			c := &bench{T: t, Journal: b.open(t)}
			c.must(c.adopt(Generation(0), 0))
			f(c, i)
		})
	}
}

func (b *bench) nothing() {
	_, err := b.Load(b.Context(), "x")
	b.refused(err, idrl.NotFound)
	_, err = b.Settings(b.Context(), "x")
	b.refused(err, idrl.NotFound)
	want := record.Record{Spec: Spec("s"), Settings: record.Settings{Title: Spec("s").Title, State: record.StateRunning, Budget: 30, Told: Spec("s").CurrentInstructions()}}
	if d := cmp.Diff(want, b.load(), Same); d != "" {
		b.Errorf("a new session (-want +got):\n%s", d)
	}
	set, err := b.Settings(b.Context(), "s")
	if d := cmp.Diff(want.Settings, set, Same); d != "" || err != nil {
		b.Errorf("settings of a new session: %v (-want +got):\n%s", err, d)
	}
}

func (b *bench) roundTrip() {
	g, next := Generation(0), Generation(3)
	b.must(b.adopt(g, 0))
	as := []record.Assignment{Assignment(1, g.Queries[0], "a1"), Assignment(2, g.Queries[1], "a2"), Assignment(3, g.Queries[2], "a1")}
	as[1].Why.PairStd = math.NaN() // a question without a pair
	as[2].Left, as[2].Reopens = "", "id1"
	as[0].Condition, as[2].Condition = record.HeldOut, "uniform"
	b.must(b.issue(as[:2]...))
	rows := []idrl.Answer{Answer(1, as[0]), {ID: "u", Seq: 2, Query: as[0].Query.ID, Annotator: "a1", Undoes: "id1", ReceivedAt: T0}, Answer(3, as[2])}
	rows[2].Choice, rows[2].Rating, rows[2].Left = idrl.Rated, -0.3, ""
	b.must(b.appendRow(rows[0]))
	b.must(b.appendRow(rows[1], as[2]))
	b.must(b.appendRow(rows[2]))
	as[0].Answer, as[2].Answer = "id1", "id3"
	as[1].LeaseUntil = T0.Add(time.Hour)
	b.must(b.Renew(b.Context(), "s", "s2", as[1].LeaseUntil))
	b.must(b.adopt(next, 4))
	replaced := Snapshot(1) // in its slot by that of row 3
	replaced.Belief, replaced.Slot = nil, 0
	want := record.Record{
		Spec: Spec("s"), Settings: record.Settings{Title: Spec("s").Title, State: record.StateRunning, Budget: 30, Told: Spec("s").CurrentInstructions()}, Log: rows, Assignments: as,
		Snapshots: []record.Snapshot{replaced, Snapshot(2), Snapshot(3)}, Generation: &next, AdoptedAt: 4,
		Pool: g.Pool, Archive: [][]idrl.Candidate{nil}, Clips: g.Clips,
	}
	for _, c := range g.Candidates {
		want.Archive[0] = append(want.Archive[0], idrl.Candidate{ID: c.ID, Origin: c.Origin, Params: c.Params, Mu: c.Mu, Mus: c.Mus, Clip: c.Clip, Rollouts: c.Rollouts})
	}
	next.Steps = nil // they are read one by one
	got := b.load()
	if d := cmp.Diff(want, got, Same); d != "" {
		b.Errorf("the record differs (-want +got):\n%s", d)
	}
	for id, c := range got.Generation.Clips {
		if c.Media != nil || c.Snapshots != nil {
			b.Errorf("clip %s was loaded with its media or states", id)
		}
	}
}

func (b *bench) appendRefuses() {
	g := Generation(0)
	refusals := []struct {
		name    string
		session idrl.SessionID
		change  func(*idrl.Answer)
		want    idrl.Kind
	}{
		{"id taken", "s", func(a *idrl.Answer) { a.ID = "id1" }, idrl.Conflict},
		{"seq taken", "s", func(a *idrl.Answer) { a.Seq = 1 }, idrl.Conflict},
		{"seq leaves a gap", "s", func(a *idrl.Answer) { a.Seq = 3 }, idrl.Conflict},
		{"assignment closed", "s", func(a *idrl.Answer) { a.Assignment, a.Query = "s1", g.Queries[0].ID }, idrl.Conflict},
		{"assignment unknown", "s", func(a *idrl.Answer) { a.Assignment = "s9" }, idrl.NotFound},
		{"assignment of another", "s", func(a *idrl.Answer) { a.Annotator = "a2" }, idrl.Forbidden},
		{"query of another assignment", "s", func(a *idrl.Answer) { a.Query = g.Queries[0].ID }, idrl.Invalid},
		{"session unknown", "x", func(*idrl.Answer) {}, idrl.NotFound},
		{"withdraws nothing", "s", func(a *idrl.Answer) { a.Undoes = "id9" }, idrl.NotFound},
		{"rating not a number", "s", func(a *idrl.Answer) { a.Rating = math.NaN() }, idrl.Invalid},
	}
	names := []string{}
	for _, r := range refusals {
		names = append(names, r.name)
	}
	b.each(names, func(b *bench, i int) {
		as := []record.Assignment{Assignment(1, g.Queries[0], "a1"), Assignment(2, g.Queries[1], "a1")}
		b.must(b.issue(as...))
		b.must(b.appendRow(Answer(1, as[0])))
		before := b.load()
		a := Answer(2, as[1])
		refusals[i].change(&a)
		b.refused(b.Append(b.Context(), refusals[i].session, record.Row{Answer: a, After: Snapshot(a.Seq)}), refusals[i].want)
		if d := cmp.Diff(before, b.load(), Same); d != "" {
			b.Errorf("the refusal changed the record:\n%s", d)
		}
		b.must(b.appendRow(Answer(2, as[1])))
	})
	b.refused(b.Append(b.Context(), "s", record.Row{Answer: Answer(1, Assignment(1, g.Queries[0], "a1")), After: Snapshot(2)}), idrl.Invalid)
}

func (b *bench) allOrNothing() {
	g := Generation(0)
	b.must(b.adopt(g, 0))
	as := []record.Assignment{Assignment(1, g.Queries[0], "a1"), Assignment(2, g.Queries[1], "a1")}
	b.must(b.issue(as...))
	before := b.load()
	good := record.Row{Answer: Answer(1, as[0]), After: Snapshot(1), Next: []record.Assignment{Assignment(3, g.Queries[2], "a1")}}
	for _, bad := range []record.Row{
		{Answer: Answer(3, as[1]), After: Snapshot(3)}, // leaves a gap
		{Answer: Answer(2, as[1]), After: Snapshot(2), Next: []record.Assignment{Assignment(3, g.Queries[2], "a2")}},
	} {
		b.refused(b.Append(b.Context(), "s", good, bad), idrl.Conflict)
		if d := cmp.Diff(before, b.load(), Same); d != "" {
			b.Errorf("the refusal changed the record:\n%s", d)
		}
	}
	b.must(b.Append(b.Context(), "s", good, record.Row{Answer: Answer(2, as[1]), After: Snapshot(2)}))
}

func (b *bench) withdrawnOnce() {
	b.must(b.adopt(Generation(0), 0))
	as := Assignment(1, Generation(0).Queries[0], "a1")
	b.must(b.issue(as))
	b.must(b.appendRow(Answer(1, as)))
	undo := idrl.Answer{ID: "u1", Seq: 2, Annotator: "a1", Undoes: "id1", ReceivedAt: T0}
	b.must(b.appendRow(undo))
	undo.ID, undo.Seq = "u2", 3
	b.refused(b.appendRow(undo), idrl.Conflict)
}

// One question has one id in both orders, but its x points the other way.
func (b *bench) order() {
	g := Generation(0)
	b.must(b.adopt(g, 0))
	as := []record.Assignment{
		Assignment(1, idrl.NewComparison(g.Clips["c0"], g.Clips["c1"]), "a1"),
		Assignment(2, idrl.NewComparison(g.Clips["c1"], g.Clips["c0"]), "a2"),
	}
	if as[0].Query.ID != as[1].Query.ID {
		b.Fatal("the premise is wrong")
	}
	b.must(b.issue(as...))
	if d := cmp.Diff(as, b.load().Assignments, Same); d != "" {
		b.Error(d)
	}
}

// A group keeps its clips and the order in which they are shown, and its answer what was named.
func (b *bench) groups() {
	g := Extended(0, 4)
	b.must(b.adopt(g, 0))
	q := idrl.NewGroup("c0", "c1", "c2", "c3", "c4", "c5")
	as := Assignment(1, q, "a1")
	as.Left, as.Order = "", "cafbed"
	other := q
	other.Clips = []idrl.ClipID{"c0", "c1", "c2", "c3", "c5", "c4"}
	five := q
	five.Clips = q.Clips[:5]
	missing := q
	missing.ID, missing.Clips = "m", []idrl.ClipID{"c0", "c1", "c2", "c3", "c4", "c9"}
	b.must(b.issue(as))
	b.refused(b.issue(Assignment(2, other, "a1")), idrl.Conflict)
	b.refused(b.issue(Assignment(2, five, "a1")), idrl.Invalid)
	b.refused(b.issue(Assignment(2, missing, "a1")), idrl.NotFound)
	a := Answer(1, as)
	a.Choice, a.Left, a.Order, a.Best, a.Worst = idrl.BestWorst, "", as.Order, "f", "b"
	b.must(b.appendRow(a))
	as.Answer = a.ID
	r := b.load()
	if d := cmp.Diff([]record.Assignment{as}, r.Assignments, Same); d != "" {
		b.Error(d)
	}
	if d := cmp.Diff([]idrl.Answer{a}, r.Log, Same); d != "" {
		b.Error(d)
	}
	if len(r.Clips) != idrl.GroupSize {
		b.Errorf("%d of the clips that were asked about are loaded", len(r.Clips))
	}
}

func (b *bench) issueRefuses() {
	g := Generation(0)
	refusals := []struct {
		name   string
		change func(*record.Assignment)
		want   idrl.Kind
	}{
		{"id taken", func(a *record.Assignment) { a.ID = "s1" }, idrl.Conflict},
		{"n taken", func(a *record.Assignment) { a.N = 1 }, idrl.Conflict},
		{"annotator unknown", func(a *record.Assignment) { a.Annotator = "a9" }, idrl.NotFound},
		{"clip unknown", func(a *record.Assignment) { a.Query = idrl.NewRating(Clip("c9", 1, 2)) }, idrl.NotFound},
		{"query changed", func(a *record.Assignment) { a.Query = g.Queries[0]; a.Query.Kind = idrl.CompareStates }, idrl.Conflict},
		{"no clip", func(a *record.Assignment) { a.Query.Clips = nil }, idrl.Invalid},
	}
	names := []string{}
	for _, r := range refusals {
		names = append(names, r.name)
	}
	b.each(names, func(b *bench, i int) {
		b.must(b.issue(Assignment(1, g.Queries[0], "a1")))
		good, bad := Assignment(2, g.Queries[1], "a1"), Assignment(3, g.Queries[2], "a1")
		refusals[i].change(&bad)
		b.refused(b.issue(good, bad), refusals[i].want)
		if n := len(b.load().Assignments); n != 1 {
			b.Errorf("%d assignments; half of the batch was kept", n)
		}
	})
}

func (b *bench) renewRefuses() {
	b.must(b.adopt(Generation(0), 0))
	as := Assignment(1, Generation(0).Queries[0], "a1")
	b.must(b.issue(as))
	b.refused(b.Renew(b.Context(), "s", "s9", T0), idrl.NotFound)
	b.refused(b.Renew(b.Context(), "x", "s1", T0), idrl.NotFound)
	b.must(b.appendRow(Answer(1, as)))
	b.refused(b.Renew(b.Context(), "s", "s1", T0), idrl.Conflict)
}

func (b *bench) trainings() {
	began := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	past := []record.PastTraining{
		{BasedOn: 0, Began: began, Ended: began.Add(time.Second), End: record.TrainingDone, Candidates: 6},
		{BasedOn: 4, Answers: 3, Began: began.Add(time.Minute), Ended: began.Add(2 * time.Minute), End: record.TrainingFailed, Why: "The worker ended."},
		{BasedOn: 4, Answers: 3, FollowUp: true, Began: began.Add(3 * time.Minute), Ended: began.Add(4 * time.Minute), End: record.TrainingCancelled},
	}
	for i := range past {
		if past[i].End == record.TrainingDone {
			b.refused(b.Adopt(b.Context(), "x", Generation(0), 0, past[i]), idrl.NotFound)
			b.must(b.Adopt(b.Context(), "s", Generation(0), 0, past[i]))
			b.must(b.Adopt(b.Context(), "s", Generation(0), 0, past[i])) // changes nothing
		} else {
			b.must(b.NoteTraining(b.Context(), "s", past[i]))
		}
		past[i].N = int64(i + 1)
	}
	slices.Reverse(past)
	for most, want := range map[int][]record.PastTraining{0: past, 2: past[:2], 9: past} {
		got, err := b.Trainings(b.Context(), "s", most)
		b.must(err)
		if d := cmp.Diff(want, got); d != "" {
			b.Errorf("at most %d trainings (-want +got):\n%s", most, d)
		}
	}
	b.refused(b.NoteTraining(b.Context(), "x", past[0]), idrl.NotFound)
}

func (b *bench) steps() {
	g := Generation(0)
	b.must(b.adopt(g, 0))
	b.must(b.adopt(Generation(3), 4))
	for _, want := range []idrl.Generation{g, Generation(3)} {
		for name, content := range want.Steps {
			if got, err := b.Steps(b.Context(), "s", name); err != nil || !bytes.Equal(got, content) {
				b.Errorf("steps %s: %v, %v; want %v", name, got, err, content)
			}
		}
	}
	_, err := b.Steps(b.Context(), "s", "nothing")
	b.refused(err, idrl.NotFound)
	_, err = b.Steps(b.Context(), "x", stepsName(0))
	b.refused(err, idrl.NotFound)
}

func (b *bench) media() {
	b.must(b.adopt(Generation(0), 0))
	b.must(b.adopt(Generation(3), 4))
	b.must(b.Extend(b.Context(), "s", Extended(3, 1), 3, 4))
	for _, id := range []idrl.ClipID{"c0", "c2", "c3"} {
		if got, err := b.ClipMedia(b.Context(), "s", id); err != nil || string(got) != "media of "+string(id) {
			b.Errorf("the drawing of clip %s: %q, %v", id, got, err)
		}
	}
	_, err := b.ClipMedia(b.Context(), "s", "nothing")
	b.refused(err, idrl.NotFound)
	_, err = b.ClipMedia(b.Context(), "x", "c0")
	b.refused(err, idrl.NotFound)
}

func (b *bench) places() {
	undrawn := Generation(3)
	c := undrawn.Clips["c2"]
	c.Media = nil
	undrawn.Clips = map[idrl.ClipID]idrl.Clip{"c0": undrawn.Clips["c0"], "c1": undrawn.Clips["c1"], "c2": c}
	b.must(b.adopt(undrawn, 4))
	longer := Extended(3, 1)
	longer.Clips["c2"] = c
	b.must(b.Extend(b.Context(), "s", longer, 3, 4))
	var want []idrl.Clip
	for _, k := range []string{"c0", "c1", "c3"} {
		c := Clip(k)
		want = append(want, idrl.Clip{ID: c.ID, From: c.From, Start: c.Start, Steps: c.Steps})
	}
	got, err := b.ClipPlaces(b.Context(), "s")
	if d := cmp.Diff(want, got, Same); d != "" || err != nil {
		b.Errorf("places of the clips: %v (-want +got):\n%s", err, d)
	}
	if none, err := b.ClipPlaces(b.Context(), "x"); len(none) > 0 || err != nil {
		b.Errorf("places of the clips of no session: %v, %v", none, err)
	}
}
