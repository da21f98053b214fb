package session

import (
	"context"
	"fmt"
	"maps"
	"math"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/answerable"
	"tiebreak/internal/look/measure"
)

// A sight holds measurements of what a person sees of clips. It reads drawings from the journal unless it is
// given them. One goroutine uses it.
type sight struct {
	journal record.Journal
	session idrl.SessionID
	views   map[idrl.ClipID]*measure.View // nil of a clip that cannot be measured
	seen    map[idrl.QueryID]seen         // of the generation, once it was measured; not changed after that
	drawn   bool                          // something is known of a question of the generation
	likeness
	sorting
}

// A seen question is what a person sees of its clips.
type seen struct {
	first    idrl.ClipID
	apart    float64 // measure.Pair.Apart; 0 for a rating
	motion   [2]float64
	seconds  float64 // of the viewer, of the longer clip
	together bool    // the clips begin in one state
	drawn    bool    // else nothing is known
}

func newSight(journal record.Journal, session idrl.SessionID) *sight {
	return &sight{journal: journal, session: session, views: map[idrl.ClipID]*measure.View{}, seen: map[idrl.QueryID]seen{}}
}

// clone returns a copy for another goroutine.
func (s *sight) clone() *sight {
	out := *s
	out.views, out.likeness, out.sorting = maps.Clone(s.views), s.likeness.clone(), sorting{}
	return &out
}

// view returns the view of a clip; nil if it has no drawing that can be measured. Its
// error is that of the journal.
func (s *sight) view(id idrl.ClipID) (*measure.View, error) {
	if v, known := s.views[id]; known {
		return v, nil
	}
	media, err := s.journal.ClipMedia(context.Background(), s.session, id)
	if kind := idrl.KindOf(err); err != nil && kind != idrl.NotFound && kind != idrl.Damaged {
		return nil, fmt.Errorf("drawing of clip %s: %w", id, err)
	}
	v := measured(media)
	s.views[id] = v
	return v, nil
}

// measured returns the view of a drawing, nil if it cannot be measured.
func measured(media []byte) *measure.View {
	v, err := measure.Of([]idrl.Clip{{Media: media}})
	if err != nil {
		return nil
	}
	return v[0]
}

// question returns what a person sees of q. Its errors are those of view.
func (s *sight) question(q idrl.Query) (seen, error) {
	if out, known := s.seen[q.ID]; known {
		return out, nil
	}
	return s.measure(q)
}

// measure does the same for a question of which nothing is known.
func (s *sight) measure(q idrl.Query) (out seen, err error) {
	var views [2]*measure.View
	out.first = q.Clips[0]
	for i, id := range q.Clips {
		if views[i], err = s.view(id); err != nil || views[i] == nil {
			return seen{}, err
		}
		out.motion[i], out.seconds = views[i].Motion().World, max(out.seconds, views[i].Seconds())
	}
	if !q.Kind.Comparison() {
		out.drawn = true
		return out, nil
	}
	if p, err := measure.Compare(views[0], views[1]); err == nil { // else they show different things, of which nothing can be said
		out.apart, out.together, out.drawn = p.Apart(), p.Together(), true
	}
	return out, nil
}

// measureGeneration makes g the generation in use: it measures its questions, which takes long, and
// what they look like beside those of recent, sorts its clips, and forgets what is of neither. Its errors
// are those of view.
func (s *sight) measureGeneration(g *idrl.Generation, recent []idrl.ClipID) error {
	for id, c := range g.Clips {
		if _, known := s.views[id]; !known && c.Media != nil {
			s.views[id] = measured(c.Media)
		}
	}
	old := s.seen
	s.drawn = false
	s.seen = make(map[idrl.QueryID]seen, len(g.Queries))
	for _, q := range g.Queries {
		out, known := old[q.ID]
		if !known || out.first != q.Clips[0] { // the id is the same in both orders
			var err error
			if out, err = s.measure(q); err != nil {
				return err
			}
		}
		s.seen[q.ID] = out
		s.drawn = s.drawn || out.drawn
	}
	if err := s.compareWith(g, recent); err != nil {
		return err
	}
	if err := s.sort(g); err != nil {
		return err
	}
	s.forget(g, recent)
	return nil
}

// forget drops the views of clips that are neither of g nor among recent.
func (s *sight) forget(g *idrl.Generation, recent []idrl.ClipID) {
	kept := make(map[idrl.ClipID]*measure.View, len(g.Clips)+len(recent))
	keep := func(id idrl.ClipID) {
		if v, known := s.views[id]; known {
			kept[id] = v
		}
	}
	for id := range g.Clips {
		keep(id)
	}
	for _, id := range recent {
		keep(id)
	}
	s.views = kept
}

// absorb takes over what o knows of clips and questions.
func (s *sight) absorb(o *sight) {
	maps.Copy(s.views, o.views)
	s.seen = maps.Clone(s.seen)
	maps.Copy(s.seen, o.seen)
}

// why stores what is seen of a question of a kind in w, where θ·x has that mean and
// variance.
func (o seen) why(w *record.Why, kind idrl.QueryKind, mean, variance float64) {
	w.Apart, w.MotionA, w.MotionB, w.Seconds = o.apart, o.motion[0], o.motion[1], o.seconds
	if kind.Comparison() {
		w.Lead = lead(mean, variance)
	}
}

// lead returns |mean| in standard deviations, at most record.MaxLead.
func lead(mean, variance float64) float64 {
	z := math.Abs(mean) / math.Sqrt(variance)
	switch {
	case mean == 0:
		return 0
	case z < record.MaxLead:
		return z
	}
	return record.MaxLead
}

// commonStart is the factor of the value of a comparison whose clips begin in the
// same state. Such comparisons are easier for people, so they are preferred among those of nearly equal value.
const commonStart = 1.05

// weight returns what the value of a question is multiplied by: the probability of a clear
// answer, and commonStart where that applies.
func (o seen) weight(m answerable.Model, kind idrl.QueryKind, mean, variance float64) float64 {
	q := answerable.Question{Apart: 1}
	if o.drawn {
		var w record.Why
		o.why(&w, kind, mean, variance)
		q = answerable.Of(kind, w)
	}
	p := m.Probability(q)
	if o.together {
		p *= commonStart
	}
	return p
}
