package session

import (
	"cmp"
	"context"
	"slices"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/session/view"
)

// A recommendation names the recommended policy and its challenger.
type recommendation struct {
	Leader     idrl.Candidate // no ID before the first generation
	Incumbent  idrl.Candidate // with which challengers are compared: the leader, or one that looks like it
	Challenger idrl.Candidate // expected to be better, but not tested; no ID if there is none
	Gain       float64        // of the challenger, expected, as a difference of returns
	Led        string         // view.LedFirst or view.LedByDuel; empty if Leader is the one with the highest expected return
}

// led keeps the last lead with what it depends on.
type led struct {
	history *posterior.History
	gen     *idrl.Generation
	duels   int // questions that were asked
	clips   int // that were asked about
	by      learning.Lead
	led     string // recommendation.Led
}

// lead returns what the session recommends now. After the first answers another policy takes the lead only by a duel
// (learning.Duel): the posterior is about features that may be wrong about what people see, and policies
// are trained to make the most of them. It is a function of the answers that count, the generations and the questions.
func (s *generation) lead() recommendation {
	if s.gen == nil {
		return recommendation{}
	}
	by, known := s.leadAfter(s.history), s.learner.Policies().Known()
	out := recommendation{Leader: known[by.Leader], Incumbent: known[by.Incumbent], Gain: by.Gain, Led: s.led.led}
	if by.Challenger >= 0 {
		out.Challenger = known[by.Challenger]
	}
	return out
}

// leadAfter returns the lead when the answers that count are those of h.
func (s *generation) leadAfter(h *posterior.History) learning.Lead {
	now := led{history: h, gen: s.gen, duels: len(s.asked.duels), clips: len(s.shelf.asked)}
	if was := s.led; was.history == now.history && was.gen == now.gen && was.duels == now.duels && was.clips == now.clips {
		return was.by
	}
	t := &trials{generation: s, history: h}
	now.by = s.learner.LeadBy(h.Posterior(), t)
	if t.tested {
		now.led = view.LedByDuel
		if known := s.learner.Policies().Known(); s.families.of[known[now.by.Leader].ID] == t.first {
			now.led = view.LedFirst
		}
	}
	s.led = now
	return now.by
}

// trials are what answers say of policies against each other. They implement learning.Trials.
type trials struct {
	*generation
	history *posterior.History
	tested  bool // the lead moves by duels alone, from family first on
	first   int
	counted map[[2]int][]int // by families, the lower one first: 1 for it, −1 for the other, 0 for neither; nil until they are counted
}

// freeAnswers is the number of answers from which on the lead moves by duels. Before, the policy of the library with the highest
// posterior mean leads.
const freeAnswers = 6

// Tested implements learning.Trials. All policies may lead where the session does not compare two clips, does
// not begin with a library, or is not to test them. Else those of the library may at first; from then on the one that led then, or that won a
// duel with the one that led before it.
func (t *trials) Tested(known []idrl.Candidate) (may, lost []bool) {
	f := &t.families
	if !f.library || t.spec.Leader != idrl.TestedLeader || t.spec.Kind != idrl.CompareClips {
		return nil, nil
	}
	f.sort(t.learner.Policies())
	may, lost = make([]bool, len(known)), make([]bool, len(known))
	for i, c := range known {
		may[i] = !f.trained[f.of[c.ID]]
	}
	if t.history.Len() < freeAnswers {
		return may, lost
	}
	incumbent, ok := t.ledFirst(known, may)
	if !ok {
		return may, lost
	}
	t.first = incumbent
	out := make([]bool, len(f.first)) // by family
	for _, d := range t.duels() {
		if d[1] != incumbent || out[d[0]] {
			continue
		}
		switch t.between(d[0], d[1]) {
		case learning.Took:
			out[incumbent], incumbent = true, d[0]
		case learning.Kept:
			out[d[0]] = true
		case learning.Undecided:
		}
	}
	leads := func(c idrl.Candidate) bool { return f.of[c.ID] == incumbent }
	if !slices.ContainsFunc(known, leads) { // it is among those that the archive has no room for
		return may, lost
	}
	t.tested = true
	for i, c := range known {
		may[i], lost[i] = leads(c), out[f.of[c.ID]]
	}
	return may, lost
}

// ledFirst returns the family that led after the first freeAnswers answers, among those of known that might.
func (t *trials) ledFirst(known []idrl.Candidate, may []bool) (family int, ok bool) {
	before := t.history
	if items := before.After(0); len(items) > freeAnswers {
		var err error
		if before, err = before.Until(context.Background(), items[freeAnswers].Seq); err != nil {
			return 0, false
		}
	}
	k := t.learner.HighestOf(before.Posterior(), may)
	if k < 0 {
		return 0, false
	}
	return t.families.of[known[k].ID], true
}

// duels returns the families of the challenger and of the incumbent of each duel that was asked about, the first one first.
func (s *generation) duels() (out [][2]int) {
	for _, as := range s.asked.duels {
		if d := s.families.pair(as); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// pair returns the families that a question of a duel is about.
func (f *families) pair(as *record.Assignment) [2]int {
	return [2]int{f.of[as.Why.First], f.of[as.Why.Second]}
}

// Between implements learning.Trials.
func (t *trials) Between(challenger, incumbent idrl.Candidate) (v learning.Verdict, alike bool) {
	c, i := t.families.of[challenger.ID], t.families.of[incumbent.ID]
	if v = t.between(c, i); v != learning.Undecided {
		return v, false
	}
	pairs, shown := t.pairs(c, i)
	return v, shown && len(pairs) == 0
}

func (t *trials) between(challenger, incumbent int) learning.Verdict {
	d := t.duel(challenger, incumbent)
	return d.Verdict()
}

// duel returns the duel of two families: all answers that compare clips of theirs count, whatever they were asked for.
func (t *trials) duel(challenger, incumbent int) (d learning.Duel) {
	t.count()
	sign := 1
	if challenger > incumbent {
		sign = -1
	}
	for _, answer := range t.counted[[2]int{min(challenger, incumbent), max(challenger, incumbent)}] {
		d.Add(sign * answer)
	}
	return d
}

// count counts the answers of the history.
func (t *trials) count() {
	if t.counted != nil {
		return
	}
	t.counted = map[[2]int][]int{}
	for _, i := range t.history.After(0) {
		if len(i.Query.Clips) != 2 {
			continue
		}
		a, acted := t.actor(i.Query.Clips[0])
		b, both := t.actor(i.Query.Clips[1])
		if !acted || !both || a == b {
			continue
		}
		answer := 0
		switch {
		case i.Choice == idrl.ChoseA && a < b, i.Choice == idrl.ChoseB && b < a:
			answer = 1
		case i.Choice == idrl.ChoseA, i.Choice == idrl.ChoseB:
			answer = -1
		}
		pair := [2]int{min(a, b), max(a, b)}
		t.counted[pair] = append(t.counted[pair], answer)
	}
}

// actor returns the family that acts in a clip; ok is false if it is none that the session compares.
func (s *generation) actor(id idrl.ClipID) (family int, ok bool) {
	c, err := s.shelf.clip(id)
	if err != nil {
		return 0, false
	}
	family, ok = s.families.acted[c.Raw]
	return family, ok
}

// pairs returns the pairs of clips of two families that a person can answer, those first that show best what the
// two do. shown is false if there are no clips to tell that from.
func (s *generation) pairs(challenger, incumbent int) (out [][2]idrl.Clip, shown bool) {
	ours, theirs := s.clipsOf(challenger), s.clipsOf(incumbent)
	for sum := range len(ours) + len(theirs) { // the places in both lists
		for i := range min(sum+1, len(ours)) {
			if j := sum - i; j < len(theirs) && s.differ(ours[i], theirs[j]) {
				out = append(out, [2]idrl.Clip{ours[i], theirs[j]})
			}
		}
	}
	return out, len(ours) > 0 && len(theirs) > 0
}

// differ reports whether a person can compare two clips. Of clips that cannot be measured nothing is known, and they can.
func (s *generation) differ(a, b idrl.Clip) bool {
	if !s.seesQuestions() {
		return !slices.Equal(a.Phi, b.Phi)
	}
	first, err := s.sight.view(a.ID)
	second, also := s.sight.view(b.ID)
	if err != nil || also != nil || first == nil || second == nil {
		return true
	}
	is, err := measure.Answerable(first, second)
	return is || err != nil
}

// clipsOf returns the clips of a family that can be asked about, by the distance of their mean features of a step from those of all
// steps of the family, the nearest first. Beginnings of episodes, which all policies share, come last.
func (s *generation) clipsOf(family int) []idrl.Clip {
	type placed struct {
		idrl.Clip
		far float64
	}
	var all []placed
	has := map[idrl.ClipID]bool{}
	for _, clips := range []map[idrl.ClipID]idrl.Clip{s.gen.Clips, s.shelf.asked} {
		for id, c := range clips { // in any order: they are sorted
			if k, acted := s.families.acted[c.Raw]; acted && k == family && c.Steps > 0 && !has[id] {
				has[id], all = true, append(all, placed{Clip: c})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b placed) int { return cmp.Compare(a.ID, b.ID) })
	mean := s.meanStep(family)
	cov := make([]float64, len(mean))
	for i := range all {
		if mean == nil || len(mean) != len(all[i].Phi) {
			break
		}
		d := floats.ScaleTo(make([]float64, len(mean)), 1/float64(all[i].Steps), all[i].Phi)
		floats.Sub(d, mean)
		s.cfg.Model.Prior().CovMul(cov, d)
		all[i].far = floats.Dot(d, cov)
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(first(a.Clip, b.Clip), cmp.Compare(a.far, b.far))
	})
	out := make([]idrl.Clip, len(all))
	for i, p := range all {
		out[i] = p.Clip
	}
	return out
}

// first compares whether clips are the beginning of an episode: one that is comes last.
func first(a, b idrl.Clip) int {
	at := func(c idrl.Clip) int {
		if c.Start == 0 {
			return 1
		}
		return 0
	}
	return cmp.Compare(at(a), at(b))
}

// meanStep returns the mean features of a step of the rollouts of a family that are kept; nil if there are none.
func (s *generation) meanStep(family int) (mean []float64) {
	n := 0
	for _, name := range s.families.rollouts(family) {
		steps, err := s.shelf.steps(name)
		if err != nil {
			continue
		}
		for _, phi := range steps.Phi {
			if mean == nil {
				mean = make([]float64, len(phi))
			}
			floats.Add(mean, phi)
			n++
		}
	}
	if n > 0 {
		floats.Scale(1/float64(n), mean)
	}
	return mean
}
