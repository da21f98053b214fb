package neural

import (
	"math"

	"tiebreak/internal/idrl"
)

// data are the informative answers of a dataset with the inputs of their clips.
type data struct {
	width int
	x     []float32 // rows×width: observation before the action, and the action
	items []item
	most  int // rows of the largest item
}

// An item is an answer about u = Σ c r(x) over its rows.
type item struct {
	answer     idrl.Answer
	likelihood idrl.Likelihood
	first      int    // row
	rows       [2]int // of clip a and of clip b, one after the other; rating: all are of clip a
	c          [2]float64
}

// gather returns the data of a training. It returns an error of kind Invalid, which names the
// answer, if an answer does not fit its question, a row has another width than in c, or a
// number is not finite. The two clips of a comparison may have different lengths: their
// rewards are summed, as in all models.
func gather(c Config, d idrl.Dataset) (*data, error) {
	if len(d.Queries) != len(d.Answers) || len(d.Shown) != len(d.Answers) {
		return nil, idrl.Errorf(idrl.Invalid, "%d questions and clips of %d for %d answers", len(d.Queries), len(d.Shown), len(d.Answers))
	}
	out := &data{width: c.inputs()}
	for i, a := range d.Answers {
		if !a.Informative() {
			continue
		}
		if err := out.add(c, d.Queries[i], a, d.Shown[i]); err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "answer %d of %d: %v", i+1, len(d.Answers), err)
		}
	}
	return out, nil
}

func (d *data) add(c Config, q idrl.Query, a idrl.Answer, shown []idrl.Steps) error {
	comparison := q.Kind.Comparison()
	it := item{answer: a, likelihood: c.likelihood(q.Kind, a.Annotator), first: len(d.x) / d.width, c: [2]float64{1, -1}}
	switch {
	case (a.Choice == idrl.Rated) == comparison:
		return idrl.Errorf(idrl.Invalid, "choice %q does not answer a %s", a.Choice, q.Kind)
	case comparison && len(shown) != 2 || !comparison && len(shown) != 1:
		return idrl.Errorf(idrl.Invalid, "a %s shows %d clips", q.Kind, len(shown))
	case it.likelihood == nil:
		return idrl.Errorf(idrl.Invalid, "the model has no likelihood of a %s", q.Kind)
	case c.Mode == Paper && !comparison:
		return idrl.Errorf(idrl.Invalid, "in mode %q a reward network learns from comparisons alone", Paper)
	case a.Choice == idrl.Rated && !finite(a.Rating):
		return idrl.Errorf(idrl.Invalid, "its rating is %v", a.Rating)
	}
	for k, s := range shown {
		if err := d.steps(c, s); err != nil {
			return err
		}
		it.rows[k] = s.Len()
	}
	if !comparison {
		it.c[0] = 1 / float64(it.rows[0])
	}
	d.items, d.most = append(d.items, it), max(d.most, it.rows[0]+it.rows[1])
	return nil
}

// steps appends the inputs of the steps of a clip.
func (d *data) steps(c Config, s idrl.Steps) error {
	if err := c.fits(s); err != nil {
		return err
	}
	for t := range s.Actions {
		d.x = append(append(d.x, s.Obs[t]...), s.Actions[t]...)
	}
	for _, v := range d.x[len(d.x)-s.Len()*d.width:] {
		if !finite(float64(v)) {
			return idrl.Errorf(idrl.Invalid, "an observation or action is %v", v)
		}
	}
	return nil
}

// fits returns an error of kind Invalid if the rows of s are not of the widths of c.
func (c Config) fits(s idrl.Steps) error {
	if s.Len() == 0 || len(s.Obs) < s.Len() {
		return idrl.Errorf(idrl.Invalid, "a clip has %d observations for %d steps", len(s.Obs), s.Len())
	}
	for t := range s.Actions {
		if len(s.Obs[t]) != c.ObsDim || len(s.Actions[t]) != c.ActDim {
			return idrl.Errorf(idrl.Invalid, "step %d has %d numbers of an observation and %d of an action; the network takes %d and %d",
				t, len(s.Obs[t]), len(s.Actions[t]), c.ObsDim, c.ActDim)
		}
	}
	return nil
}

// finite reports whether all numbers are.
func finite(xs ...float64) bool {
	for _, v := range xs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
