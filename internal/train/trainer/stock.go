package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/learning"
)

// A Stock is the behaviours that sessions on a robot begin with. They are played and drawn
// once, whatever the session: all sessions with equal environments may share a Stock.
type Stock struct {
	NewEnv     func() idrl.Environment // required; returns equal environments
	Behaviours []library.Behaviour     // required
	Remake     func(idrl.Environment, []float64) (idrl.Policy, error)
	Kind       idrl.QueryKind // of the questions; default CompareClips

	// Encode and Steps are those of Thompson.
	Encode func(idrl.Environment, idrl.Clip) ([]byte, error)
	Steps  func(t *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error)

	// Choose returns the places of at most n of the behaviours, given their clips, in the
	// order of the candidates. If it is nil, the first 64 are.
	Choose func(clips [][]idrl.Clip, n int) ([]int, error)

	// Pairs returns the pairs of clips that are worth a comparison, by their places, the
	// best first. If it is nil, all are.
	Pairs func(clips []idrl.Clip) ([][2]int, error)

	lock  sync.Mutex
	ready *shelf // guarded by lock; nil until it is made
}

// A shelf holds the played behaviours of a Stock.
type shelf struct {
	policies []solved // in order, their clips drawn
	clips    []idrl.Clip
	pairs    [][2]int // of clips
}

const (
	// mostBehaviours are played, so that a long library of a user's model does not delay the first
	// question.
	mostBehaviours = 64

	// chosenBehaviours is how many Choose may choose.
	chosenBehaviours = 16

	// shownOnce is how many behaviours of a library earlier versions began with.
	shownOnce = 16

	// StockSeed is the seed of the episodes of a stock.
	StockSeed = 0

	// stockSteps is how many steps of an episode are played, if it has as many and
	// stockClips clips are not longer.
	stockSteps = 300
	stockClips = 2.5
)

// run returns what plays the behaviours.
func (s *Stock) run() *run {
	t := &Thompson{NewEnv: s.NewEnv, Kind: s.Kind, Encode: s.Encode, Steps: s.Steps, Remake: s.Remake, Pool: -1}
	r := t.newRun(idrl.TrainJob{Seed: StockSeed})
	spec := r.env.Spec()
	r.steady, r.most = true, min(spec.Horizon, max(stockSteps, int(stockClips*float64(spec.ClipSteps))))
	r.rollouts, r.muEpisodes = 1, 1
	if spec.ClipSteps == 0 || spec.Horizon < 2*spec.ClipSteps { // a clip is an episode
		r.rollouts, r.muEpisodes = 3, 3
	}
	return r
}

// steadyClips returns clips of t without the beginning, which all policies share. If the robot falls
// there are clips from before the fall and one that shows it.
func (r *simulation) steadyClips(t *idrl.Trajectory) []idrl.Clip {
	long, n := r.clipLen(t), t.Len()
	if n < 2*long {
		return []idrl.Clip{r.opening(t)}
	}
	fall := min(t.Fall(), n+1)
	var out []idrl.Clip
	for _, start := range []int{long / 2, n - long} {
		if start+long <= fall {
			out = append(out, idrl.Segment(t, start, long))
		}
	}
	if fall <= n {
		out = append(out, idrl.Segment(t, max(0, min(fall-long/2, n-long)), long))
	}
	return out
}

// Clips plays a behaviour as sessions show it, and returns its clips, drawn. It returns an
// error with ErrBroken in its chain if the simulation breaks down.
func (s *Stock) Clips(ctx context.Context, b library.Behaviour) ([]idrl.Clip, error) {
	played, err := s.play(ctx, s.run(), 0, b)
	return played.allClips(), err
}

func (s solved) allClips() (out []idrl.Clip) {
	for _, ro := range s.rollouts {
		out = append(out, ro.clips...)
	}
	return out
}

// play plays behaviour k and draws its clips.
func (s *Stock) play(ctx context.Context, r *run, k int, b library.Behaviour) (solved, error) {
	p, err := s.Remake(r.env, b.Params)
	if err != nil {
		return solved{}, fmt.Errorf("behaviour %q: %w", b.Name, err)
	}
	out, err := r.try(ctx, poolID(k), p, nil)
	if err != nil {
		return solved{}, fmt.Errorf("behaviour %q: %w", b.Name, err)
	}
	if mu := b.Mu(); mu != nil {
		out.mu, out.mus = mu, b.Mus
	} else { // as if the steps that are not played were like the others
		floats.Scale(float64(r.env.Spec().Horizon)/float64(r.most), out.mu)
	}
	out.under = out.mu
	if err := r.drawAll(ctx, &out); err != nil {
		return solved{}, err
	}
	for _, ro := range out.rollouts {
		for i := range ro.clips {
			ro.clips[i].Snapshots = nil
		}
	}
	return out, nil
}

// get returns the played behaviours, and plays them at the first call. Concurrent calls wait for it.
func (s *Stock) get(ctx context.Context, progress idrl.Progress) (*shelf, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ready != nil {
		return s.ready, nil
	}
	out, err := s.make(ctx, progress)
	if err != nil {
		return &shelf{}, err
	}
	s.ready = out
	return out, nil
}

func (s *Stock) make(ctx context.Context, progress idrl.Progress) (*shelf, error) {
	out, err := s.playAll(ctx, progress)
	if err != nil {
		return nil, err
	}
	if err := s.order(out); err != nil {
		return nil, err
	}
	if len(out.policies) < 2 {
		return nil, fmt.Errorf("%d of %d behaviours are left, too few to compare", len(out.policies), len(s.Behaviours))
	}
	var set clipSet
	for _, p := range out.policies {
		set.addAll(p.allClips())
	}
	out.clips = set.list
	if s.Pairs != nil && cmp.Or(s.Kind, idrl.CompareClips) == idrl.CompareClips {
		out.pairs, err = s.Pairs(out.clips)
	}
	return out, err
}

// stockWorkers are goroutines that play behaviours. The result does not depend on them.
const stockWorkers = 2

// playAll plays the behaviours; what breaks down is left out.
func (s *Stock) playAll(ctx context.Context, progress idrl.Progress) (*shelf, error) {
	list := s.Behaviours[:min(mostBehaviours, len(s.Behaviours))]
	p := playing{stock: s, list: list, progress: progress, played: make([]solved, len(list)), errs: make([]error, len(list))}
	var workers sync.WaitGroup
	for range min(stockWorkers, len(list)) {
		workers.Go(func() { p.work(ctx) })
	}
	workers.Wait()
	out := &shelf{}
	for k, err := range p.errs {
		if errors.Is(err, ErrBroken) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out.policies = append(out.policies, p.played[k])
	}
	return out, nil
}

// A playing is the work of several goroutines that play behaviours.
type playing struct {
	stock  *Stock
	list   []library.Behaviour
	played []solved // by behaviours; each is written by one goroutine
	errs   []error

	lock     sync.Mutex // guards what follows, and is held while progress is told
	next     int
	progress idrl.Progress // may be nil
}

// work plays behaviours until none is left.
func (p *playing) work(ctx context.Context) {
	r := p.stock.run()
	for {
		k := p.take()
		if k == len(p.list) {
			return
		}
		p.played[k], p.errs[k] = p.stock.play(ctx, r, k, p.list[k])
	}
}

// take returns the next behaviour to play, and says so.
func (p *playing) take() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	k := p.next
	if k < len(p.list) {
		p.next++
		if p.progress != nil {
			p.progress(k, len(p.list)+1, fmt.Sprintf("playing behaviour %d of %d", k+1, len(p.list)))
		}
	}
	return k
}

// order keeps the policies that Choose chooses, in its order.
func (s *Stock) order(sh *shelf) error {
	if s.Choose == nil {
		return nil
	}
	clips := make([][]idrl.Clip, len(sh.policies))
	for i, p := range sh.policies {
		clips[i] = p.allClips()
	}
	chosen, err := s.Choose(clips, chosenBehaviours)
	if err != nil {
		return err
	}
	all := sh.policies
	sh.policies = nil
	for _, i := range chosen {
		sh.policies = append(sh.policies, all[i])
	}
	return nil
}

// stocked returns the first generation of a session from a stock: its policies are the
// candidates, for which nothing was solved, and questions are about its clips alone.
func (r *run) stocked(ctx context.Context, s *Stock) (g idrl.Generation, err error) {
	sh, err := s.get(ctx, r.job.Progress)
	if err != nil {
		return g, err
	}
	var candidates []idrl.Candidate
	var rollouts [][]rollout
	for k, p := range sh.policies {
		p = p.as(learning.CandidateID(r.job.BasedOn, k))
		c := idrl.Candidate{ID: p.id, Origin: idrl.FromLibrary, Theta: make([]float64, len(p.mu))}
		candidates, rollouts = append(candidates, describe(c, p)), append(rollouts, p.rollouts)
	}
	g = idrl.Generation{BasedOn: r.job.BasedOn, Candidates: candidates, Steps: kept(rollouts...)}
	var clips, shown []idrl.Clip
	if sh.pairs == nil {
		keep := 0
		if clips, keep, g.Queries, err = r.questions(rollouts, nil, nil); err != nil {
			return g, err
		}
		shown = clips[:keep:keep]
	} else {
		var set clipSet
		for _, ro := range slices.Concat(rollouts...) {
			set.addAll(ro.clips)
		}
		clips, shown, g.Queries = set.list, openings(rollouts), sh.queries(r.maxQueries)
	}
	g.Clips, err = r.draw(ctx, clips, shown, g.Queries)
	return g, err
}

// queries returns at most n comparisons that differ in features, in the order of pairs. Where there
// are more, those stay that are among the best of their two behaviours, so that every two behaviours
// that a person can tell apart are compared.
func (sh *shelf) queries(n int) []idrl.Query {
	by := sh.behaviours()
	type query struct {
		place, rank int // rank: how many better ones compare the same two behaviours
		query       idrl.Query
	}
	var all []query
	better := map[[2]int]int{}
	for _, pair := range sh.pairs {
		q := idrl.ComparisonVector(sh.clips[pair[0]], sh.clips[pair[1]])
		if floats.Norm(q.X, 1) == 0 {
			continue
		}
		a, b := by[pair[0]], by[pair[1]]
		two := [2]int{min(a, b), max(a, b)}
		all = append(all, query{len(all), better[two], q.Query})
		better[two]++
	}
	if len(all) > n {
		slices.SortStableFunc(all, func(a, b query) int { return cmp.Compare(a.rank, b.rank) })
		all = all[:n]
		slices.SortFunc(all, func(a, b query) int { return cmp.Compare(a.place, b.place) })
	}
	out := make([]idrl.Query, len(all))
	for i, q := range all {
		out[i] = q.query
	}
	return out
}

// behaviours returns the behaviour that each clip shows, the first of several.
func (sh *shelf) behaviours() []int {
	first := map[idrl.ClipID]int{}
	for k, p := range sh.policies {
		for _, c := range p.allClips() {
			if _, known := first[c.ID]; !known {
				first[c.ID] = k
			}
		}
	}
	out := make([]int, len(sh.clips))
	for i, c := range sh.clips {
		out[i] = first[c.ID]
	}
	return out
}
