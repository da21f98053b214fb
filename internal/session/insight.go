package session

import (
	"cmp"
	"context"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/insight"
)

// Insight returns a report on the posterior and on labelling now, for researchers. The session's goroutine
// only hands over values that do not change. The caller's goroutine does the work.
func (s *reports) Insight(ctx context.Context) (*insight.Report, error) {
	if err := ctx.Err(); err != nil { // which a report that is made already would not notice
		return nil, err
	}
	h, err := call(ctx, s.inbox, func() (reportInput, error) { return s.handOver(), nil })
	if err != nil || h.known != nil {
		return h.known, err
	}
	return s.report(ctx, h)
}

// reportInput holds the values that the session's goroutine hands over for an insight.Report.
type reportInput struct {
	known *insight.Report // nil unless it is made already
	src   insight.Source
	asked []*record.Assignment // whose Query never changes

	episodes map[idrl.ClipID]insight.Episode // of the clips that were asked about, in a session of kind idrl.JudgeClip; else nil
}

func (s *reports) handOver() reportInput {
	if r, ok := s.insight.Known(s.log.seq(), s.features.version()); ok {
		return reportInput{known: r}
	}
	src := s.source()
	if src.Version > 0 {
		src.Networks = s.networks()
	}
	return reportInput{src: src, asked: slices.Clip(s.asked.all), episodes: s.episodes()}
}

// episodes returns what each clip that was asked about is a part of, in a session that asks for verdicts.
func (s *reports) episodes() map[idrl.ClipID]insight.Episode {
	if s.spec.Kind != idrl.JudgeClip {
		return nil
	}
	policies, out := map[idrl.PolicyID]idrl.Candidate{}, map[idrl.ClipID]insight.Episode{}
	for _, c := range s.learner.Policies().All() {
		policies[c.ID] = c
	}
	for id, clip := range s.shelf.asked {
		policy, n := clip.From.Episode()
		c, known := policies[policy]
		if !known { // as those that acted in recordings, of which names are known all the same
			c = idrl.Candidate{ID: policy}
		}
		e := insight.Episode{ID: clip.From, Policy: s.called(c)}
		if s.cfg.Task != nil {
			e.Task = s.cfg.Task(c, n)
		}
		out[id] = e
	}
	return out
}

func (s *reports) report(ctx context.Context, h reportInput) (*insight.Report, error) {
	h.src.Turned = map[idrl.AssignmentID]bool{}
	of := map[idrl.AssignmentID]insight.Episode{}
	for _, as := range h.asked {
		if as.Query.Turned() {
			h.src.Turned[as.ID] = true
		}
		if e, known := h.episodes[as.Query.Clips[0]]; known {
			of[as.ID] = e
		}
	}
	if h.episodes != nil {
		h.src.Episode = func(id idrl.AssignmentID) (insight.Episode, bool) {
			e, known := of[id]
			return e, known
		}
	}
	return s.insight.Report(ctx, h.src)
}

// Open returns the questions that people hold.
func (s *reports) Open(ctx context.Context) ([]record.Assignment, error) {
	return call(ctx, s.inbox, func() (out []record.Assignment, err error) {
		for as := range s.asked.live(s.cfg.Now()) {
			out = append(out, *as)
		}
		return out, nil
	})
}

// source returns the source of a report, without the networks and Turned. Rows of the log are never changed, and the next
// ones come after those that are handed over.
func (s *reports) source() insight.Source {
	src := insight.Source{
		Seq: s.log.seq(), Log: slices.Clip(s.log.rows), History: s.history,
		Version: s.features.version(), Model: s.features.model, Seed: s.spec.Seed,
	}
	if src.Version == 0 {
		src.Names = s.spec.Features
	}
	edits := answerLog{stale: s.log.stale} // which no later edit changes
	src.Recorded, src.Intact = slices.Clip(s.log.outcomes), edits.intact
	return src
}

// An asking is a question that was answered, with what its predictions are computed from.
type asking struct {
	row    idrl.Answer
	as     record.Assignment
	clips  []idrl.Clip       // of its question, those that are known
	vector *idrl.QueryVector // nil under learnt features, and where it cannot be computed
	undone bool
	how    record.Counting // of the annotator's replies
}

// A questionsInput holds what the session's goroutine hands over to Questions.
type questionsInput struct {
	list  []asking // newest first
	more  bool
	src   insight.Source
	known []idrl.Candidate // the known policies, as the posterior values them
	named map[idrl.PolicyID]named
}

// named is a policy that a question was chosen to distinguish from others.
type named struct {
	title string
	clip  idrl.ClipID
	like  []int // indices in questionsInput.known of it and of policies that count as the same
}

// Questions returns questions that were answered, newest first, also those whose answers do
// not count. more says that there are earlier ones. Like Insight it works on the caller's
// goroutine.
func (s *reports) Questions(ctx context.Context, w insight.Wanted) (out []insight.Question, more bool, err error) {
	h, err := call(ctx, s.inbox, func() (questionsInput, error) { return s.questionsInput(w.Before, min(w.N, insight.MostWanted)), nil })
	if err != nil {
		return nil, false, err
	}
	past, err := h.posteriorsBefore(ctx, w)
	if err != nil {
		return nil, false, err
	}
	now := make([]float64, len(h.known))
	if w.Best {
		now = insight.Best(h.src.History.Posterior(), h.known, rng.New(h.src.Seed, "best", 0))
	}
	for i, a := range h.list {
		q := insight.Question{Answer: a.row, Assignment: a.as, Clips: a.clips, Undone: a.undone, LeftOut: a.how.Out, Turned: a.how.Turns(a.row.Seq)}
		if a.vector != nil && past[i] != nil {
			q.Predicted, q.Forecast = insight.Predict(h.src.Model, past[i], a.vector, a.row.Annotator)
		} else if said, ok := h.src.Said(a.row.Seq); ok {
			q.Predicted, q.Forecast = insight.Prediction{Reply: said.P}, true
		}
		for _, id := range about(a.as.Why) {
			q.Policies = append(q.Policies, h.policy(id, now, then(a.as.Why, id)))
		}
		out = append(out, q)
	}
	return out, h.more, nil
}

// posteriorsBefore returns the posteriors before the answers of the list, under the environment's
// features; nil under others, and where what was recorded is wanted. They are made one from another,
// from the oldest one on.
func (h *questionsInput) posteriorsBefore(ctx context.Context, w insight.Wanted) ([]idrl.Posterior, error) {
	out := make([]idrl.Posterior, len(h.list))
	if h.src.Version > 0 || len(h.list) == 0 || w.Recorded && h.src.History.Before(h.list[len(h.list)-1].row.Seq) >= insight.Followed {
		return out, nil
	}
	items := h.src.History.After(0)
	before := func(seq int64) int {
		n, _ := slices.BinarySearchFunc(items, seq, func(i posterior.Item, seq int64) int { return cmp.Compare(i.Seq, seq) })
		return n
	}
	n := before(h.list[len(h.list)-1].row.Seq)
	past, err := h.src.History.Until(ctx, h.list[len(h.list)-1].row.Seq)
	for i := len(h.list) - 1; i >= 0 && err == nil; i-- {
		for ; err == nil && n < before(h.list[i].row.Seq); n++ {
			past, err = past.With(ctx, items[n])
		}
		if err == nil {
			out[i] = past.Posterior()
		}
	}
	return out, err
}

// about returns the policies that a question was chosen to distinguish, First first.
func about(w record.Why) (out []idrl.PolicyID) {
	add := func(id idrl.PolicyID) {
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	add(w.First)
	add(w.Second)
	for _, s := range w.Shares {
		add(s.Policy)
	}
	return out
}

// then returns the probability of a policy to be the best that was recorded with a question.
func then(w record.Why, id idrl.PolicyID) record.Chance {
	if id == w.First {
		return w.Best[0]
	}
	for i, s := range w.Shares {
		if s.Policy == id {
			return w.Best[1+i]
		}
	}
	return 0
}

// policy describes a policy.
func (h *questionsInput) policy(id idrl.PolicyID, now []float64, then record.Chance) insight.Policy {
	p := h.named[id]
	out := insight.Policy{ID: id, Title: p.title, Clip: p.clip, Then: then, Known: len(p.like) > 0}
	for _, i := range p.like {
		out.Now += now[i]
	}
	return out
}

// questionsInput returns the input of Questions: answered questions before a log row, at most n.
func (s *reports) questionsInput(before int64, n int) questionsInput {
	if before <= 0 || before > s.log.seq() {
		before = s.log.seq() + 1
	}
	out := questionsInput{src: s.source(), known: slices.Clone(s.learner.Policies().Known()), named: map[idrl.PolicyID]named{}}
	for i, c := range out.known {
		out.known[i].Mu = s.features.mu(c)
	}
	for _, a := range slices.Backward(s.log.rows[:before-1]) {
		as := s.asked.get(a.Assignment)
		if !a.Reply() || as == nil {
			continue
		}
		if len(out.list) == n {
			out.more = true
			break
		}
		one := asking{row: a, as: *as, undone: s.log.undone[a.ID], how: s.log.how[a.Annotator]}
		if q, err := s.question(s.features.view, a); err == nil && out.src.Version == 0 {
			one.vector = q
		}
		for _, id := range as.Query.Clips {
			if c, err := s.shelf.clip(id); err == nil {
				one.clips = append(one.clips, c)
			}
		}
		for _, id := range about(as.Why) {
			if _, ok := out.named[id]; !ok {
				out.named[id] = s.named(id)
			}
		}
		out.list = append(out.list, one)
	}
	return out
}

// named finds a policy by its name.
func (s *reports) named(id idrl.PolicyID) named {
	policies := s.learner.Policies()
	found, ok := policies.Find(id)
	if !ok {
		return named{}
	}
	out := named{title: s.title(found), clip: found.Clip}
	for k, c := range policies.Known() {
		if policies.Same(c, found) {
			out.like = append(out.like, k)
		}
	}
	return out
}
