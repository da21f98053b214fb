package session

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/representation"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// mostClips is how many clips networks are looked at with.
const mostClips = 200

// A gallery keeps what there is to say of the learnt networks from one report to the next. What it
// returns is a function of what it is asked for.
type gallery struct {
	mu   sync.Mutex // held while networks are looked at
	last atomic.Pointer[looked]
}

// looked describes the networks of the first fits.
type looked struct {
	fits int
	list []insight.Network
}

// network returns what is to be said of the reward network of the session.
func (s *reports) network() view.Network {
	if s.spec.Model != idrl.NetworkModel {
		return view.Network{}
	}
	n := view.Network{Used: true, Version: s.features.version(), Fitting: s.refit.outcome != nil}
	if n.Version > 0 {
		n.BasedOn = s.fits[n.Version-1].BasedOn
	}
	var c quality.Calibration
	for _, o := range s.log.outcomes {
		if s.log.counts(o.Seq) {
			c.Add(o.P, o.Of(s.log.counted(s.log.at(o.Seq)).Choice).Actual)
		}
	}
	n.Predictions = view.Predictions{Answers: c.Len(), LogLoss: c.LogLoss(), ECE: c.ECE(), Right: c.Right()}
	return n
}

// networks returns what the learnt networks reward, for the caller's goroutine to compute. All of
// them are looked at with the same clips: of those that were asked about up to the row that the
// last network was learnt from, at most mostClips, evenly spaced in the order in which they were
// asked.
func (s *reports) networks() func(context.Context) ([]insight.Network, error) {
	fits := s.fits
	if known := s.gallery.last.Load(); known != nil && known.fits == len(fits) {
		return func(context.Context) ([]insight.Network, error) { return known.list, nil }
	}
	from := &shelf{journal: s.cfg.Journal, session: s.spec.ID, asked: map[idrl.ClipID]idrl.Clip{}, remarks: s.spec.Remarks, arena: s.spec.Arena}
	var clips []idrl.ClipID
	for _, a := range s.log.rows[:fits[len(fits)-1].BasedOn] {
		as := s.asked.get(a.Assignment)
		if !a.Reply() || as == nil {
			continue
		}
		for _, id := range as.Query.Clips {
			if _, known := from.asked[id]; !known {
				from.asked[id], clips = s.shelf.asked[id], append(clips, id)
			}
		}
	}
	if n := len(clips); n > mostClips {
		for i := range mostClips {
			clips[i] = clips[i*n/mostClips]
		}
		clips = clips[:mostClips]
	}
	return func(ctx context.Context) ([]insight.Network, error) {
		return s.gallery.look(ctx, fits, func(f record.LearntFit) (insight.Network, error) { return s.rewarded(f, from, clips) })
	}
}

// look returns the networks of fits. Those that cannot be opened are left out.
func (g *gallery) look(ctx context.Context, fits []record.LearntFit, at func(record.LearntFit) (insight.Network, error)) ([]insight.Network, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if known := g.last.Load(); known != nil && known.fits == len(fits) {
		return known.list, nil
	}
	var list []insight.Network
	for _, f := range fits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := at(f)
		if unreadable(err) {
			continue // restoreFeatures logs what is wrong with those in use
		}
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	g.last.Store(&looked{len(fits), list})
	return list, nil
}

// rewarded returns what the network of f rewards in clips.
func (s *reports) rewarded(f record.LearntFit, from *shelf, clips []idrl.ClipID) (n insight.Network, err error) {
	n = insight.Network{Version: f.Version, BasedOn: f.BasedOn}
	under, err := s.open(f, from)
	if err != nil {
		return n, err
	}
	of, ok := under.rep.(Weighted)
	if !ok {
		return n, idrl.Errorf(idrl.Invalid, "features of kind %q have no reward of their own", f.Learner)
	}
	weights, environment := of.Weights(), representation.New(nil, from.source(0))
	var rewards []float64
	var features [][]float64
	for i := range clips {
		learnt, err := under.view.Clips(clips[i : i+1])
		var made [][]float64
		if err == nil {
			made, err = environment.Clips(clips[i : i+1])
		}
		if unreadable(err) {
			s.cfg.Log.Warn("a clip is left out where networks are looked at", "session", s.spec.ID, "clip", clips[i], "err", err)
			continue
		}
		if err != nil {
			return n, err
		}
		rewards, features = append(rewards, floats.Dot(weights, learnt[0])), append(features, made[0])
	}
	if n.Clips = len(rewards); n.Clips == 0 {
		return n, idrl.Errorf(idrl.NotFound, "none of the clips that were asked about can be read")
	}
	n.Correlation = insight.Correlations(rewards, features)
	return n, nil
}

// unreadable reports whether something that is recorded is missing or damaged.
func unreadable(err error) bool {
	return slices.Contains([]idrl.Kind{idrl.Damaged, idrl.Invalid, idrl.NotFound}, idrl.KindOf(err))
}
