package misfit

import (
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"

	"gonum.org/v1/gonum/floats"
)

// Level is the largest probability of an alarm in a session whose answers follow the features.
const Level = 0.05

// shares are the prior standard deviations of the own value of a clip, as multiples of that of its
// reward by the features.
var shares = [...]float64{0.3, 1}

const (
	// settling is the number of first answers that are not predicted. From their questions the
	// standard deviation of the reward of a clip is estimated.
	settling = 5

	// widest is the largest number of weights of a model, values of clips included. The test ends there.
	widest = 512
)

// A Test compares how well models predict answers. With p the predictions of the session's model and
// p_s those of the model in which the values of clips have the share s, after n answers
//
//	S_n = log ½ Σ_s Π_i p_s(a_i | a_1 … a_i−1) − log Π_i p(a_i | a_1 … a_i−1)
//
// over the answers after the first settling ones. If answers follow p, exp(S_n) is a martingale that begins
// at 1 for every choice of questions, so that S_n ever exceeds log 1/Level with a probability of at most Level
// (Ville's inequality). Source: docs/methods.md, section 2.10. It is owned by one goroutine.
type Test struct {
	rival func(stds []float64) posterior.Personal

	said  []said
	clips map[idrl.ClipID]int // places of the values
	room  int                 // of values in the models
	std   float64             // of the features of a clip; 0 before it is known

	models  [1 + len(shares)]posterior.Personal // that of the session first
	beliefs [1 + len(shares)]idrl.Posterior
	logs    [1 + len(shares)]float64 // Σ log p
	gains   []float64                // by answer, S_i − S_i−1
	top     float64                  // max S_n, and 0
	ended   bool                     // nothing more is taken in
}

// A said is an answer that was taken in.
type said struct {
	query  *idrl.QueryVector
	answer idrl.Answer
}

// New returns a test without answers. rival returns the session's model with as many more weights as
// stds has numbers, which are their prior standard deviations; it may be called with none.
func New(rival func(stds []float64) posterior.Personal) *Test {
	return &Test{rival: rival, clips: map[idrl.ClipID]int{}}
}

// Take takes in answer a to q, a comparison of two clips. It returns an error if a prediction cannot be
// computed; the test has ended then.
func (t *Test) Take(q *idrl.QueryVector, a idrl.Answer) error {
	if t.ended {
		return nil
	}
	a.Remark = "" // it is about the value of both clips
	t.said = append(t.said, said{q, a})
	for _, id := range q.Clips {
		if _, known := t.clips[id]; !known {
			t.clips[id] = len(t.clips)
		}
	}
	switch n := len(t.said); {
	case n < settling:
		return nil
	case n > settling && len(t.clips) <= t.room:
		return t.learn(n - 1)
	}
	return t.again()
}

// again makes the models, with room for more clips, and has them learn from all answers. The room is a
// function of the number of clips.
func (t *Test) again() error {
	if t.std == 0 {
		t.std = t.spread()
	}
	for t.room = 16; t.room < len(t.clips); {
		t.room *= 2
	}
	if t.std == 0 || len(t.said[0].query.X)+t.room > widest {
		t.ended = true
		return nil
	}
	for k := range t.models {
		var stds []float64
		if k > 0 {
			stds = slices.Repeat([]float64{shares[k-1] * t.std}, t.room)
		}
		t.models[k] = t.rival(stds)
		t.beliefs[k], t.logs[k] = t.models[k].Prior(), 0
	}
	t.gains, t.top = t.gains[:0], 0
	for i := range t.said {
		if err := t.learn(i); err != nil {
			return err
		}
	}
	return nil
}

// spread returns the prior standard deviation of the reward of a clip by its features. It is that of the
// difference between two clips, over the questions so far, divided by √2.
func (t *Test) spread() float64 {
	prior := t.rival(nil).Prior()
	work, mean, sum := make([]float64, prior.Dim()), make([]float64, prior.Dim()), 0.0
	for _, s := range t.said {
		_, v := idrl.Moments(prior, s.query.X, mean, work)
		sum += v
	}
	return math.Sqrt(sum / float64(2*len(t.said)))
}

// learn adds the log probabilities of answer i to logs, and then conditions the models on it.
func (t *Test) learn(i int) error {
	before := t.sum()
	for k, m := range t.models {
		s := t.said[i]
		q := *s.query
		q.Mid = nil
		if k > 0 {
			q.X = t.with(s.query)
		}
		p := t.beliefs[k]
		mean, v := idrl.Moments(p, q.X, p.Mean(nil), make([]float64, p.Dim()))
		logP, _, _ := m.Asking(p, s.answer.Annotator).Likelihood(q.Query).LogZ(s.answer, mean, v)
		next, err := m.Condition(p, q, s.answer)
		if err != nil || math.IsNaN(logP) || math.IsInf(logP, 0) {
			t.ended = true
			return fmt.Errorf("misfit: answer %d with log probability %v: %w", s.answer.Seq, logP, err)
		}
		t.beliefs[k] = next
		if i >= settling {
			t.logs[k] += logP
		}
	}
	now := t.sum()
	t.gains, t.top = append(t.gains, now-before), max(t.top, now)
	return nil
}

// with returns the vector of q with the values of its clips.
func (t *Test) with(q *idrl.QueryVector) []float64 {
	d := len(q.X)
	out := make([]float64, d+t.room)
	copy(out, q.X)
	out[d+t.clips[q.Clips[0]]]++
	out[d+t.clips[q.Clips[1]]]--
	return out
}

// sum returns S_n.
func (t *Test) sum() float64 {
	return floats.LogSumExp(t.logs[1:]) - math.Log(float64(len(shares))) - t.logs[0]
}

// Alarm reports whether S_n has exceeded log 1/Level.
func (t *Test) Alarm() bool { return t.top > -math.Log(Level) }

// Top returns the greatest S_n so far, and 0 at least.
func (t *Test) Top() float64 { return t.top }

// Unexplained returns the log rows of up to n answers that most favour the model with values of clips, those
// that favour it most first.
func (t *Test) Unexplained(n int) (rows []int64) {
	order := make([]int, len(t.gains))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case t.gains[a] > t.gains[b]:
			return -1
		case t.gains[a] < t.gains[b]:
			return 1
		}
		return 0
	})
	for _, i := range order[:min(n, len(order))] {
		if t.gains[i] > 0 {
			rows = append(rows, t.said[i].answer.Seq)
		}
	}
	return rows
}
