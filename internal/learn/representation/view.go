package representation

import (
	"maps"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// A Source has the data from which vectors are computed.
type Source struct {
	Clip     func(idrl.ClipID) (idrl.Clip, error)    // required
	Steps    func(idrl.StepsID) (*idrl.Steps, error) // required for learnt features
	Remarks  bool                                    // comparisons get a Mid
	Discount float64                                 // γ of the environment; required for learnt features
}

// A View computes vectors under one representation, and caches those of queries that were
// asked. It is owned by one goroutine. Its results are shared and must not be changed.
type View struct {
	rep     idrl.Representation // nil: the environment's features
	source  Source
	queries map[asked]*idrl.QueryVector
	clips   map[idrl.ClipID][]float64   // nil for the environment's features
	mu      map[idrl.PolicyID][]float64 // likewise
}

// asked names a query. (a, b) and (b, a) have one id but opposite vectors.
type asked struct {
	query idrl.QueryID
	first idrl.ClipID
}

// New returns the view of rep; nil stands for the environment's features.
func New(rep idrl.Representation, source Source) *View {
	v := &View{rep: rep, source: source, queries: map[asked]*idrl.QueryVector{}}
	if rep != nil {
		v.clips, v.mu = map[idrl.ClipID][]float64{}, map[idrl.PolicyID][]float64{}
	}
	return v
}

// Version returns that of the representation.
func (v *View) Version() int64 {
	if v.rep == nil {
		return 0
	}
	return v.rep.Version()
}

// Query returns q under the representation. It returns the errors of the source, and
// one of kind NotFound where raw steps are needed that are not kept.
func (v *View) Query(q idrl.Query) (*idrl.QueryVector, error) {
	key := asked{q.ID, q.Clips[0]}
	if out := v.queries[key]; out != nil {
		return out, nil
	}
	out, err := v.query(q)
	if err != nil {
		return nil, err
	}
	v.queries[key] = &out
	return &out, nil
}

// Queries returns queries under the representation, without remembering them. Errors as
// for Query.
func (v *View) Queries(qs []idrl.Query) ([]idrl.QueryVector, error) {
	out := make([]idrl.QueryVector, len(qs))
	for i, q := range qs {
		var err error
		if out[i], err = v.query(q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Clips returns the features of clips under the representation, which must not be changed.
// Errors as for Query.
func (v *View) Clips(ids []idrl.ClipID) ([][]float64, error) {
	out := make([][]float64, len(ids))
	for i, id := range ids {
		c, err := v.source.Clip(id)
		if err == nil {
			out[i], err = v.features(c)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Absorb copies the cached clips and policies of o, a view of the same representation.
func (v *View) Absorb(o *View) {
	maps.Copy(v.clips, o.clips)
	maps.Copy(v.mu, o.mu)
}

// Remember makes Query return q for its query.
func (v *View) Remember(q *idrl.QueryVector) { v.queries[asked{q.ID, q.Clips[0]}] = q }

func (v *View) query(q idrl.Query) (idrl.QueryVector, error) {
	var pair [2]idrl.Clip // most queries have no more
	clips := append(pair[:0], make([]idrl.Clip, len(q.Clips))...)
	for i, id := range q.Clips {
		c, err := v.source.Clip(id)
		if err != nil {
			return idrl.QueryVector{}, err
		}
		if c.Phi, err = v.features(c); err != nil {
			return idrl.QueryVector{}, err
		}
		clips[i] = c
	}
	if q.Kind.Comparison() && len(clips) == 2 {
		return v.compare(q, clips[0].Phi, clips[1].Phi), nil
	}
	if q.Kind.Group() {
		out := idrl.QueryVector{Query: q}
		for _, c := range clips {
			out.Each = append(out.Each, c.Phi)
		}
		return out, nil
	}
	x := slices.Clone(clips[0].Phi)
	floats.Scale(1/float64(max(1, clips[0].Steps)), x)
	return idrl.QueryVector{Query: q, X: x}, nil
}

// compare returns the vector of a comparison of clips whose features are a and b.
func (v *View) compare(q idrl.Query, a, b []float64) idrl.QueryVector {
	out := idrl.QueryVector{Query: q, X: floats.SubTo(make([]float64, len(a)), a, b)}
	if v.source.Remarks {
		out.Mid = floats.AddTo(make([]float64, len(a)), a, b)
		floats.Scale(0.5, out.Mid)
	}
	return out
}
