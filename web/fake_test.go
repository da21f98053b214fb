package web_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
	"tiebreak/web"
)

// Words that no annotator may ever see; the fake puts them where a session has
// its secrets.
const (
	secretPolicy = "SECRET-POLICY"
	secretOther  = "SECRET-OTHER"
	secretNote   = "SECRET-NOTE"

	secretStrategy = "SECRET-STRATEGY"

	secretVersion = 987654 // of a gold question
)

// fakeSession is a session without a belief: it asks the same comparisons of
// everybody, in order, two at a time.
type fakeSession struct {
	hub    *live.Hub
	spec   idrl.SessionSpec
	scores view.ConditionScores

	mu       sync.Mutex
	log      []idrl.Answer
	asked    map[idrl.AnnotatorID]int // questions answered or withdrawn
	fail     error                    // of every call, while set
	empty    bool                     // nothing to ask
	done     bool                     // everything is answered
	effect   view.Effect              // what was learnt; zero for nothing
	recent   []view.Asked             // of Status
	titles   map[idrl.PolicyID]string // likewise
	open     []record.Assignment      // of Status
	statuses int                      // calls of Status
	follows  int                      // calls of Follow
	cancels  int                      // calls of CancelTraining
	uploads  []idrl.ClipID
	renewed  []idrl.AssignmentID

	report    *insight.Report    // nil for an empty one
	learnt    *insight.Learnt    // nil before the first generation
	questions []insight.Question // newest first
	trainings []record.PastTraining
	examples  []idrl.Query
	block     chan struct{} // Answer waits for it, if not nil
}

func newFakeSession(hub *live.Hub, spec idrl.SessionSpec) *fakeSession {
	return &fakeSession{hub: hub, spec: spec, asked: map[idrl.AnnotatorID]int{}}
}

// set changes the session and tells its watchers.
func (f *fakeSession) set(kind live.EventKind, change func()) {
	f.mu.Lock()
	change()
	f.mu.Unlock()
	f.hub.Publish(f.spec.ID, live.Event{Kind: kind})
}

// given returns the log.
func (f *fakeSession) given() []idrl.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.log)
}

func (f *fakeSession) Spec() idrl.SessionSpec { return f.spec }

// assignment is question n of an annotator.
func (f *fakeSession) assignment(who idrl.AnnotatorID, n int) record.Assignment {
	q := idrl.Query{ID: "q1", Kind: f.spec.Kind, Clips: []idrl.ClipID{"c1", "c2"}}
	if !f.spec.Kind.Comparison() {
		q.Clips = q.Clips[:1]
	}
	return record.Assignment{
		ID: idrl.AssignmentID(fmt.Sprintf("%s.%s.%d", f.spec.ID, who, n)), Query: q, Annotator: who, Left: idrl.SideB,
		LeaseUntil: time.Unix(1.9e9, 0),
		Condition:  []record.Condition{record.HeldOut, secretStrategy}[n%2],
		Gold:       int64(n%2) * secretVersion, // every second one
		Why:        record.Why{First: secretPolicy + "-1", Second: secretPolicy + "-2", PairStd: 0.111222333, Info: 0.444555666},
	}
}

func (f *fakeSession) Claim(_ context.Context, who idrl.AnnotatorID) (view.Offer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return view.Offer{}, f.fail
	}
	o := view.Offer{Seq: int64(len(f.log)), Answers: len(record.Effective(f.log)), Budget: f.spec.Budget, Instructions: f.spec.InstructionsVersion, Seen: drawing.Part{0.1, 0.2, 0.3, 0.4}}
	for _, a := range record.Effective(f.log) {
		if a.Annotator == who {
			o.Mine++
			o.Undo = a.ID
		}
	}
	if f.done {
		o.Done, o.Code = true, f.spec.CompletionCode
		return o, nil
	}
	if f.empty {
		o.Waiting = "The first clips are being made."
		return o, nil
	}
	for n := range 2 {
		o.Open = append(o.Open, f.assignment(who, f.asked[who]+n))
	}
	return o, nil
}

// record appends a row, or finds that it is there.
func (f *fakeSession) record(a idrl.Answer) (view.Receipt, error) {
	f.mu.Lock()
	if f.fail != nil {
		defer f.mu.Unlock()
		return view.Receipt{}, f.fail
	}
	for _, old := range f.log {
		if old.ID == a.ID {
			defer f.mu.Unlock()
			if old.Choice != a.Choice || old.Undoes != a.Undoes {
				return view.Receipt{}, idrl.Errorf(idrl.Conflict, "answer %s was recorded with another choice", a.ID)
			}
			return view.Receipt{ID: old.ID, Seq: old.Seq, Replay: true}, nil
		}
	}
	a.Seq = int64(len(f.log) + 1)
	f.log = append(f.log, a)
	f.asked[a.Annotator]++
	f.mu.Unlock()
	f.hub.Publish(f.spec.ID, live.Event{Kind: live.EventAnswered, Seq: a.Seq, Annotator: a.Annotator})
	return view.Receipt{ID: a.ID, Seq: a.Seq}, nil
}

func (f *fakeSession) Answer(ctx context.Context, who idrl.AnnotatorID, a idrl.Answer) (view.Receipt, error) {
	if f.block != nil {
		select {
		case <-f.block:
		case <-ctx.Done():
			return view.Receipt{}, ctx.Err()
		}
	}
	f.mu.Lock()
	as := f.assignment(who, f.asked[who])
	open := a.Assignment == as.ID
	replay := slices.ContainsFunc(f.log, func(old idrl.Answer) bool { return old.ID == a.ID })
	f.mu.Unlock()
	if a.Query = as.Query.ID; !open && !replay {
		return view.Receipt{}, idrl.Errorf(idrl.Forbidden, "question %s was given to somebody else", a.Assignment)
	}
	if err := a.Validate(as.Query); err != nil {
		return view.Receipt{}, err
	}
	return f.record(a)
}

func (f *fakeSession) Undo(_ context.Context, who idrl.AnnotatorID, id, of idrl.AnswerID) (view.Receipt, error) {
	f.mu.Lock()
	mine := slices.ContainsFunc(f.log, func(a idrl.Answer) bool { return a.ID == of && a.Annotator == who })
	f.mu.Unlock()
	if !mine {
		return view.Receipt{}, idrl.Errorf(idrl.NotFound, "answer %s is not there to be withdrawn", of)
	}
	return f.record(idrl.Answer{ID: id, Annotator: who, Undoes: of})
}

func (f *fakeSession) Renew(_ context.Context, who idrl.AnnotatorID, a idrl.AssignmentID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a != f.assignment(who, f.asked[who]).ID {
		return idrl.Errorf(idrl.Forbidden, "question %s was given to somebody else", a)
	}
	f.renewed = append(f.renewed, a)
	return nil
}

func (f *fakeSession) Have(_ context.Context, who idrl.AnnotatorID, ids []idrl.AnswerID) (have []idrl.AnswerID, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.log {
		if a.Annotator == who && slices.Contains(ids, a.ID) {
			have = append(have, a.ID)
		}
	}
	return have, nil
}

func (f *fakeSession) Given(_ context.Context, who idrl.AnnotatorID) (out []view.Given, _ error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range slices.Backward(f.log) {
		if a.Annotator == who {
			out = append(out, view.Given{ID: a.ID, Clips: []idrl.ClipID{"c1", "c2"}, Choice: a.Choice, Left: a.Left})
		}
	}
	return out, nil
}

func (f *fakeSession) Effect(context.Context) (view.Effect, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.effect == (view.Effect{}) {
		return f.effect, idrl.Errorf(idrl.NotFound, "There are no clips of the result.")
	}
	return f.effect, nil
}

func (f *fakeSession) Status(context.Context) (view.Status, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses++
	if f.fail != nil {
		return view.Status{}, f.fail
	}
	st := view.Status{
		Session: f.spec.ID, Seq: int64(len(f.log)), Answers: len(f.log), Budget: f.spec.Budget, BasedOn: 0, Open: f.open,
		Candidates: []view.Estimate{{Name: "Best guess", ID: secretPolicy, Mean: 1, Std: 2, Clip: "c1"}},
		Best:       secretPolicy, Basis: view.AgainstPool,
		Weights:    []view.Estimate{{Name: "Speed", Mean: 0.5, Std: 0.1}},
		Annotators: []quality.AnnotatorStats{{Annotator: "a1", Answers: 1, MedianTime: time.Second}},
		Recent:     f.recent, Titles: f.titles,
	}
	for seq := range len(f.log) + 1 {
		st.Regret = append(st.Regret, idrl.Regret{Seq: int64(seq), Definition: idrl.RegretDefinition, Tolerance: 0.05, Policies: 43, Within: 0.937, Bound: 0.065, Mean: 0.013, Span: 20})
	}
	return st, nil
}

// Posterior is that of two weights: N((1, 2), diag(4, 9)).
func (f *fakeSession) Posterior(context.Context) (view.Held, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return view.Held{Seq: int64(len(f.log)), Posterior: fakePosterior{}}, f.fail
}

// Upload takes what it is given, if it is new.
func (f *fakeSession) Upload(_ context.Context, given idrl.Generation) (view.Uploaded, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := view.Uploaded{Seq: int64(len(f.log))}
	for _, c := range given.Candidates {
		known := slices.Contains(f.uploads, c.Clip)
		if !known {
			f.uploads = append(f.uploads, c.Clip)
		}
		out.Clips, out.New = append(out.Clips, c.Clip), append(out.New, !known)
	}
	out.Total = len(f.uploads)
	return out, f.fail
}

type fakePosterior struct{ idrl.Posterior }

func (fakePosterior) Dim() int { return 2 }

func (fakePosterior) Mean([]float64) []float64 { return []float64{1, 2} }

func (fakePosterior) CovMul(dst, x []float64) { dst[0], dst[1] = 4*x[0], 9*x[1] }

func (f *fakeSession) Follow(context.Context) error {
	f.mu.Lock()
	f.follows++
	err := f.fail
	f.mu.Unlock()
	f.hub.Publish(f.spec.ID, live.Event{Kind: live.EventSettings})
	return err
}

func (f *fakeSession) Conditions(context.Context) (view.ConditionScores, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.scores, f.fail
}

func (f *fakeSession) Examples(context.Context) ([]idrl.Query, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.examples, nil
}

func (f *fakeSession) Trainings(_ context.Context, most int) ([]record.PastTraining, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.trainings
	if most > 0 {
		out = out[:min(most, len(out))]
	}
	return out, f.fail
}

func (f *fakeSession) CancelTraining(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancels++
	if !f.spec.GoesOn() {
		return idrl.Errorf(idrl.Conflict, "no training is under way")
	}
	return f.fail
}

// fakeSessions holds the sessions of a test.
type fakeSessions struct {
	mu       sync.Mutex
	byID     map[idrl.SessionID]*fakeSession
	created  []idrl.SessionSpec
	refuse   error // of Create
	unplaced error // of Create and Clone, unless anyway
	fail     error // of List
	paused   error // of Session
	states   map[idrl.SessionID]record.SessionState
	panics   bool             // in List
	listed   []record.Summary // by List in place of s1 and s2
}

func (f *fakeSessions) Session(_ context.Context, id idrl.SessionID) (web.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.byID[id]; ok {
		if f.paused != nil {
			return nil, f.paused
		}
		return s, nil
	}
	return nil, idrl.Errorf(idrl.NotFound, "there is no session %q", id)
}

func (f *fakeSessions) Spec(_ context.Context, id idrl.SessionID) (idrl.SessionSpec, error) {
	if s, ok := f.byID[id]; ok {
		return s.spec, nil
	}
	return idrl.SessionSpec{}, idrl.Errorf(idrl.NotFound, "there is no session %q", id)
}

func (f *fakeSessions) Create(_ context.Context, spec idrl.SessionSpec, _ string, anyway bool) (idrl.SessionID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unplaced != nil && !anyway {
		return "", f.unplaced
	}
	f.created = append(f.created, spec)
	return "s9", f.refuse
}

func (f *fakeSessions) Clone(_ context.Context, id idrl.SessionID, title string, seed uint64, _ string, anyway bool) (idrl.SessionID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unplaced != nil && !anyway {
		return "", f.unplaced
	}
	f.created = append(f.created, f.byID[id].spec.Clone(title, seed))
	return "s9", f.refuse
}

func (f *fakeSessions) List(context.Context) ([]record.Summary, error) {
	if f.panics {
		panic("SECRET-FAULT")
	}
	out := f.listed
	if out != nil {
		return slices.Clone(out), f.fail
	}
	for _, id := range []idrl.SessionID{"s1", "s2"} {
		if s := f.byID[id]; s != nil {
			sum := record.Summary{Spec: s.spec, Answers: 3, State: cmp.Or(f.states[id], record.StateRunning)}
			if f.paused != nil {
				sum.Paused = "the files have changed"
			}
			out = append(out, sum)
		}
	}
	return out, f.fail
}

func (f *fakeSession) Insight(context.Context) (*insight.Report, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil || f.report == nil {
		return &insight.Report{}, f.fail
	}
	return f.report, nil
}

func (f *fakeSession) Questions(_ context.Context, w insight.Wanted) (out []insight.Question, more bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, q := range f.questions {
		if w.Before > 0 && q.Answer.Seq >= w.Before {
			continue
		}
		if len(out) == w.N {
			return out, true, f.fail
		}
		out = append(out, q)
	}
	return out, false, f.fail
}

func (f *fakeSession) Open(context.Context) ([]record.Assignment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open, f.fail
}
