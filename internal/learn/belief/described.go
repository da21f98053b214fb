package belief

import (
	"cmp"
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

// Manners returns the posterior p of the manner of each annotator who has answered, by id.
// Intervals have 95 %. Scales of ratings are relative to the geometric mean of those of the
// annotators with a probability below ½ to click at random, because a common factor of all
// scales cannot be distinguished from one of θ. It returns nil for one annotator alone,
// whose noise is taken to be that of the session's settings.
func (o Own) Manners(p idrl.Posterior) (out []idrl.Manner) {
	j, ok := p.(*Joint)
	if !ok {
		return nil
	}
	if len(j.people) < 2 && !o.always {
		return nil
	}
	for _, who := range j.people {
		out = append(out, o.describe(who))
	}
	relate(out)
	return out
}

// relate makes scales relative.
func relate(all []idrl.Manner) {
	sum, n := 0.0, 0
	for _, m := range all {
		if m.Random < 0.5 && m.Scale.Middle > 0 {
			sum, n = sum+math.Log(m.Scale.Middle), n+1
		}
	}
	for i := range all {
		s := &all[i].Scale
		if n < 2 {
			*s = idrl.Range{}
			continue
		}
		mean := math.Exp(sum / float64(n))
		s.Middle, s.Low, s.High = s.Middle/mean, s.Low/mean, s.High/mean
	}
}

// describe returns the posterior of the manner of a person.
func (g *manners) describe(who person) idrl.Manner {
	m := idrl.Manner{Annotator: who.id}
	var noise, tie, scale, lapses []gridPoint
	sum := 0.0
	for k := range g.list {
		sum += math.Exp(float64(who.logs[k]))
	}
	for k, w := range g.list {
		weight := math.Exp(float64(who.logs[k])) / sum
		lapses = append(lapses, gridPoint{w.rate, weight})
		if w.rate == 1 {
			m.Random += weight
			continue
		}
		b := g.bases[w.base]
		if b.scale < 0 {
			m.Reversed += weight
		}
		noise, tie, scale = append(noise, gridPoint{math.Log(b.noise), weight}), append(tie, gridPoint{math.Log(b.tie), weight}), append(scale, gridPoint{math.Log(math.Abs(b.scale)), weight})
	}
	m.Noise, m.Lapse = spread(noise, math.Exp), spread(lapses, func(v float64) float64 { return min(1, max(0, v)) })
	if g.lapse.Outcomes > 0 {
		m.TieWidth = spread(tie, math.Exp)
		return m
	}
	const z95 = 1.959963984540054
	m.Scale = spread(scale, math.Exp)
	m.Offset = idrl.Range{Middle: who.offset, Low: who.offset - z95*math.Sqrt(who.offsetVar), High: who.offset + z95*math.Sqrt(who.offsetVar)}
	return m
}

// A gridPoint is the weight of a point.
type gridPoint struct{ at, weight float64 }

// spread returns the median and the quantiles of 2.5 and 97.5 % of a distribution on a grid.
// The weight of a point is spread evenly over the values nearer to it than to its
// neighbours; the cells of the first and the last point reach as far outwards as inwards.
// back turns a value of the grid into the one that is returned. The result is zero if there
// are fewer than two points.
func spread(points []gridPoint, back func(float64) float64) idrl.Range {
	slices.SortFunc(points, func(a, b gridPoint) int { return cmp.Compare(a.at, b.at) })
	var cells []gridPoint
	total := 0.0
	for _, p := range points {
		if n := len(cells); n > 0 && cells[n-1].at == p.at {
			cells[n-1].weight += p.weight
		} else {
			cells = append(cells, p)
		}
		total += p.weight
	}
	if len(cells) < 2 || !(total > 0) {
		return idrl.Range{}
	}
	ends := make([]float64, len(cells)+1)
	for i := 1; i < len(cells); i++ {
		ends[i] = (cells[i-1].at + cells[i].at) / 2
	}
	n := len(cells)
	ends[0], ends[n] = 2*cells[0].at-ends[1], 2*cells[n-1].at-ends[n-1]
	quantile := func(q float64) float64 {
		q *= total
		for i, c := range cells {
			if q <= c.weight || i == n-1 {
				return back(ends[i] + (ends[i+1]-ends[i])*min(1, q/max(c.weight, math.SmallestNonzeroFloat64)))
			}
			q -= c.weight
		}
		return 0
	}
	return idrl.Range{Middle: quantile(0.5), Low: quantile(0.025), High: quantile(0.975)}
}
