package session

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// Conditions returns how well the posterior of each condition predicts what is held out; the
// zero ConditionScores where nothing is compared. The work is done by the caller's goroutine.
func (s *reports) Conditions(ctx context.Context) (view.ConditionScores, error) {
	if !s.Spec().Compares() {
		return view.ConditionScores{}, nil
	}
	in, err := call(ctx, s.inbox, s.toScore)
	if err != nil {
		return view.ConditionScores{}, err
	}
	return s.scores.score(ctx, in)
}

// ScoresOf returns what Conditions would of the session that cfg is about, which is not run. Of
// cfg it needs neither Trainer nor Publisher. Errors are those of New.
func ScoresOf(ctx context.Context, cfg Config) (view.ConditionScores, error) {
	s, err := New(cfg)
	if err != nil {
		return view.ConditionScores{}, err
	}
	return s.scored(ctx)
}

// scored is Conditions of a session that is not run; zero if it has nothing to compare.
func (s *reports) scored(ctx context.Context) (view.ConditionScores, error) {
	if !s.spec.Compares() {
		return view.ConditionScores{}, nil
	}
	in, err := s.toScore()
	if err != nil {
		return view.ConditionScores{}, err
	}
	return s.scores.score(ctx, in)
}

// scoring is the input of scores.
type scoring struct {
	spec      idrl.SessionSpec
	version   int64 // of the features
	seq       int64 // of the last log row
	cfg       posterior.Config
	live      idrl.Posterior
	learnt    []posterior.Item                      // by the session
	of        map[record.Condition][]posterior.Item // likewise, by condition
	held      []posterior.Item                      // answers to what is held out, one a pair, by Seq
	replies   int                                   // to what is held out
	again     int                                   // view.ConditionScores.Again
	questions map[record.Condition]int
}

// toScore gathers what scores are computed from.
func (s *reports) toScore() (scoring, error) {
	in := scoring{
		spec: s.spec, version: s.features.version(), seq: s.log.seq(), cfg: posterior.Config{Model: s.features.model, Go: s.fitting.run},
		live: s.history.Posterior(), learnt: s.history.After(0), of: map[record.Condition][]posterior.Item{}, questions: map[record.Condition]int{},
	}
	for _, i := range in.learnt {
		c := s.asked.get(s.log.at(i.Seq).Assignment).Condition
		in.of[c] = append(in.of[c], i)
	}
	for _, as := range s.asked.all {
		if as.Reopens == "" {
			in.questions[as.Condition]++
		}
		a := s.log.find(as.Answer)
		if as.Condition != record.HeldOut || a == nil || s.log.undone[a.ID] || s.log.how[a.Annotator].Out {
			continue
		}
		if in.replies++; !a.Informative() {
			continue
		}
		q, err := s.features.view.Query(as.Query)
		if err != nil {
			return in, err
		}
		in.held = append(in.held, posterior.ItemOf(q, s.log.counted(*a)))
	}
	slices.SortFunc(in.held, func(a, b posterior.Item) int { return cmp.Compare(a.Seq, b.Seq) })
	seen, told := map[idrl.QueryID]bool{}, len(in.held)
	in.held = slices.DeleteFunc(in.held, func(i posterior.Item) bool {
		again := seen[i.Query.ID]
		seen[i.Query.ID] = true
		return again
	})
	in.again = told - len(in.held)
	return in, nil
}

// scores keeps the posteriors of conditions from one call to the next. The result of score is a
// function of its argument.
type scores struct {
	mu      sync.Mutex // guards all below
	version int64      // of the features

	branches map[record.Condition]*branch
	all      *scored // of the session's own posterior, after row seq
	seq      int64
}

// A branch is the posterior after the answers of one condition.
type branch struct {
	items   []posterior.Item
	history *posterior.History
	points  []*scored // after as many answers as pointAt says, ascending
	last    *scored   // after all; nil if that is the last of points, or there are no answers
}

// A scored posterior keeps what it predicts of what is held out.
type scored struct {
	answers int
	p       idrl.Posterior
	known   map[judged]verdict
}

// judged is an answer, which may come to count turned.
type judged struct {
	seq    int64
	choice idrl.Choice
}

// A verdict is how well one answer was predicted.
type verdict struct {
	decisive bool
	right    float64 // 0, ½ or 1; of a decisive one
	loss     float64 // −log p, nats
}

// pointAt reports whether the curve of a condition has a point after n answers: after 5, and from
// 10 on after 10, 15, 20, 30, 40, 60, 80 and so on.
func pointAt(n int) bool {
	for n > 15 && n%2 == 0 {
		n /= 2
	}
	return n == 5 || n == 10 || n == 15
}

// score computes the scores.
func (k *scores) score(ctx context.Context, in scoring) (out view.ConditionScores, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.branches == nil || k.version != in.version {
		k.version, k.branches, k.all = in.version, map[record.Condition]*branch{}, nil
	}
	model := in.cfg.Model.(idrl.RewardModel)
	out.Questions, out.Replies, out.Again = in.questions[record.HeldOut], in.replies, in.again
	for _, c := range in.spec.Conditions() {
		name := record.Condition(c.Strategy)
		b := k.branches[name]
		if b == nil {
			b = &branch{history: posterior.New(in.cfg)}
			k.branches[name] = b
		}
		if err := b.follow(ctx, in.of[name]); err != nil {
			return out, err
		}
		score := view.ConditionScore{Name: name, Share: c.Share, Questions: in.questions[name], Answers: len(b.items)}
		for _, p := range b.all() {
			if point, ok := p.score(model, in.held); ok {
				score.Points = append(score.Points, point)
			}
		}
		out.Conditions = append(out.Conditions, score)
	}
	if k.all == nil || k.seq != in.seq {
		k.seq, k.all = in.seq, &scored{answers: len(in.learnt), p: in.live, known: map[judged]verdict{}}
	}
	out.All = view.ConditionScore{Share: 1, Questions: in.asked(), Answers: len(in.learnt)}
	if point, ok := k.all.score(model, in.held); ok && k.all.answers > 0 {
		out.All.Points = []view.ScorePoint{point}
	}
	k.compare(&out, in.held)
	return out, nil
}

// asked returns how many questions are not held out.
func (in *scoring) asked() (n int) {
	for c, of := range in.questions {
		if c != record.HeldOut {
			n += of
		}
	}
	return n
}

// follow makes b what is learnt from items.
func (b *branch) follow(ctx context.Context, items []posterior.Item) error {
	same := 0
	for same < min(len(items), len(b.items)) && items[same] == b.items[same] {
		same++
	}
	if same < len(b.items) {
		h, err := b.history.Replace(ctx, b.items[same].Seq, nil)
		if err != nil {
			return err
		}
		b.history, b.items, b.last = h, b.items[:same:same], nil
		b.points = slices.DeleteFunc(b.points, func(p *scored) bool { return p.answers > same })
	}
	for _, i := range items[same:] {
		h, err := b.history.With(ctx, i)
		if err != nil {
			return err
		}
		b.history, b.items, b.last = h, append(b.items, i), nil
		if pointAt(len(b.items)) {
			b.points = append(b.points, &scored{answers: len(b.items), p: h.Posterior(), known: map[judged]verdict{}})
		}
	}
	if n := len(b.items); n > 0 && !pointAt(n) && b.last == nil {
		b.last = &scored{answers: n, p: b.history.Posterior(), known: map[judged]verdict{}}
	}
	return nil
}

// all returns the posteriors of b to be scored, by the number of answers.
func (b *branch) all() []*scored {
	if b.last == nil {
		return b.points
	}
	return append(slices.Clip(b.points), b.last)
}

// score says how well p predicts; ok is false if there is nothing to predict.
func (p *scored) score(m idrl.RewardModel, held []posterior.Item) (out view.ScorePoint, ok bool) {
	out.Answers = p.answers
	for _, i := range held {
		v, ok := p.verdict(m, i)
		if !ok {
			continue
		}
		out.Answered++
		out.LogLoss += v.loss
		if v.decisive {
			out.Decisive++
			out.Right += v.right
		}
	}
	if out.Answered == 0 {
		return out, false
	}
	out.LogLoss /= float64(out.Answered)
	out.Low, out.High = stats.Wilson(out.Right, out.Decisive, stats.Z95)
	return out, true
}

// verdict says how well p predicts one answer; ok is false if its likelihood cannot be computed.
func (p *scored) verdict(m idrl.RewardModel, i posterior.Item) (v verdict, ok bool) {
	if v, ok = p.known[judged{i.Seq, i.Choice}]; ok {
		return v, true
	}
	said, ok := insight.Foretell(m, p.p, i.Query, i.Answer())
	if !ok {
		return v, false
	}
	v = verdict{decisive: i.Choice != idrl.Equal, loss: -math.Log(max(said.P[said.Actual], view.MinPredicted))}
	switch lead := floats.Dot(p.p.Mean(nil), i.Query.X); {
	case lead == 0:
		v.right = 0.5
	case (lead > 0) == (i.Choice == idrl.ChoseA):
		v.right = 1
	}
	p.known[judged{i.Seq, i.Choice}] = v
	return v, true
}

// compare sets out.Equal and out.Leads.
func (k *scores) compare(out *view.ConditionScores, held []posterior.Item) {
	own := out.Conditions[0]
	for _, p := range own.Points {
		all := !slices.ContainsFunc(out.Conditions, func(c view.ConditionScore) bool { _, ok := c.At(p.Answers); return !ok })
		if all && pointAt(p.Answers) {
			out.Equal = p.Answers
		}
	}
	if out.Equal == 0 {
		return
	}
	first := k.branches[own.Name].at(out.Equal)
	for _, c := range out.Conditions[1:] {
		out.Leads = append(out.Leads, leadOver(k.branches[c.Name].at(out.Equal), first, held))
	}
}

// at returns the posterior after so many answers, which is one of b.points.
func (b *branch) at(answers int) *scored {
	return b.points[slices.IndexFunc(b.points, func(p *scored) bool { return p.answers == answers })]
}

// leadOver returns by how much a predicts better than b, two posteriors that were scored: with
// Σd and Σd² of the differences d of their verdicts on n answers, the adjusted interval of
// Agresti and Min ("Simple improved confidence intervals for comparing matched proportions",
// Statistics in Medicine 24, 2005):
//
//	(Σd ± z √(Σd² + 1 − (Σd)²/(n+2))) / (n + 2)
func leadOver(a, b *scored, held []posterior.Item) view.Lead {
	n, sum, squares := 0.0, 0.0, 0.0
	for _, i := range held {
		va, known := a.known[judged{i.Seq, i.Choice}]
		if vb := b.known[judged{i.Seq, i.Choice}]; known && va.decisive {
			d := va.right - vb.right
			n, sum, squares = n+1, sum+d, squares+d*d
		}
	}
	half := 1.96 * math.Sqrt(squares+1-sum*sum/(n+2))
	return view.Lead{Mean: sum / max(1, n), Low: max(-1, (sum-half)/(n+2)), High: min(1, (sum+half)/(n+2))}
}
