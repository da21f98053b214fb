package neural_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/people/quality"

	"gonum.org/v1/gonum/floats"
)

// learnt trains l on d, as a session does. It returns the features, their model, and the posterior after all
// answers of d.
func learnt(t *testing.T, l neural.Learner, d idrl.Dataset, seed uint64) (rep idrl.Representation, m idrl.RewardModel, p idrl.Posterior) {
	t.Helper()
	b, err := l.Learn(t.Context(), d, 1, seed)
	if err != nil {
		t.Fatal(err)
	}
	if rep, m, err = l.Open(1, b); err != nil {
		t.Fatal(err)
	}
	var qs []idrl.QueryVector
	for i, q := range d.Queries {
		qs = append(qs, idrl.QueryVector{Query: q, X: difference(rep, d.Shown[i])})
	}
	if p, _, err = m.Fit(t.Context(), m.Prior(), qs, d.Answers); err != nil {
		t.Fatal(err)
	}
	return rep, m, p
}

func difference(rep idrl.Representation, clips []idrl.Steps) []float64 {
	x := rep.Features(make([]float64, rep.Dim()), clips[0])
	floats.Sub(x, rep.Features(make([]float64, rep.Dim()), clips[1]))
	return x
}

// logLoss returns that of predictions of the answers of w's person to n new questions.
func logLoss(w *task, rep idrl.Representation, p idrl.Posterior, n int) float64 {
	var c quality.Calibration
	work := make([]float64, rep.Dim())
	for range n {
		var d idrl.Dataset
		w.ask(&d)
		u, v := idrl.Moments(p, difference(rep, d.Shown[0]), p.Mean(nil), work)
		probs := idrl.Predict(belief.BradleyTerry{Beta: 1}, u, v)
		actual := 0
		if d.Answers[0].Choice == idrl.ChoseB {
			actual = 1
		}
		c.Add(probs[:2], actual)
	}
	return c.LogLoss()
}

// answeredBy returns the answers of so many people in turn, each of them so many, and those of all but the
// last person, who clicks at random.
func answeredBy(w *task, people, each int) (all, meant idrl.Dataset) {
	all = w.answers(people * each)
	for i := range all.Answers {
		k := i % people
		all.Answers[i].Annotator = idrl.AnnotatorID(fmt.Sprint("p", k))
		all.Answers[i].Seq = int64(i + 1)
		if k == people-1 {
			all.Answers[i].Choice = idrl.ChoseA
			if w.stream.IntN(2) == 0 {
				all.Answers[i].Choice = idrl.ChoseB
			}
			continue
		}
		meant.Queries, meant.Answers, meant.Shown = append(meant.Queries, all.Queries[i]), append(meant.Answers, all.Answers[i]), append(meant.Shown, all.Shown[i])
	}
	return all, meant
}

// One of three people clicks at random. With each annotator's own noise the predictions of answers lose
// less than half of what they lose where all are taken to answer alike, compared with the two others' answers alone.
func TestRandomClickerCostsLittle(t *testing.T) {
	cfg := neural.Config{Mode: neural.Anchored, Comparison: belief.Probit{NoiseStd: math.Sqrt(8 / math.Pi)}}
	var alike, own float64
	for seed := range uint64(6) {
		w := newTaskOf(62000+seed, 12)
		all, meant := answeredBy(w, 3, 30)
		var loss [3]float64
		for k, of := range []struct {
			own bool
			d   idrl.Dataset
		}{{false, meant}, {false, all}, {true, all}} {
			rep, m, p := learnt(t, neural.Learner{Config: cfg, Own: of.own}, of.d, seed)
			loss[k] = logLoss(w, rep, p, 1000)
			if of.own {
				checkManners(t, m, p)
			}
		}
		alike, own = alike+(loss[1]-loss[0])/6, own+(loss[2]-loss[0])/6
		t.Logf("seed %d: log loss %.3f of the two who mean their answers, %.3f of all with one noise, %.3f with each annotator's own", seed, loss[0], loss[1], loss[2])
	}
	t.Logf("lost to a random clicker: %.3f with one noise, %.3f with each annotator's own", alike, own)
	if !(own < alike/2) {
		t.Errorf("a random clicker costs a log loss of %.3f with one noise and %.3f with each annotator's own", alike, own)
	}
}

// checkManners fails if the last of three people is not the one who most probably clicks at random.
func checkManners(t *testing.T, m idrl.RewardModel, p idrl.Posterior) {
	t.Helper()
	manners := m.(belief.Own).Manners(p)
	if len(manners) != 3 {
		t.Fatalf("%d annotators", len(manners))
	}
	for _, who := range manners[:2] {
		if who.Random >= manners[2].Random {
			t.Errorf("annotator %s clicks at random with probability %.2f, the one who does with %.2f", who.Annotator, who.Random, manners[2].Random)
		}
	}
}

// The page names people who click at random, or confuse the answers, with a probability. Of three who mean their answers
// that is said of none; of three of whom one confuses the answers it is said of that one, and of no other.
func TestPeopleUnderANetworkAreToldApart(t *testing.T) {
	cfg := neural.Config{Mode: neural.Anchored, Comparison: belief.Probit{NoiseStd: math.Sqrt(8 / math.Pi)}}
	const sure = 0.9
	for _, test := range []struct {
		confuses    bool
		each, found int // answers of a person; of six sessions in which that one is found
	}{{false, 14, 0}, {true, 30, 4}} {
		found := 0
		for seed := range uint64(6) {
			d := newTaskOf(66100+seed, 12).answers(3 * test.each)
			for i := range d.Answers {
				a := &d.Answers[i]
				a.Annotator, a.Seq = idrl.AnnotatorID(fmt.Sprint("p", i%3)), int64(i+1)
				switch {
				case !test.confuses || i%3 < 2:
				case a.Choice == idrl.ChoseA:
					a.Choice = idrl.ChoseB
				default:
					a.Choice = idrl.ChoseA
				}
			}
			_, m, p := learnt(t, neural.Learner{Config: cfg, Own: true}, d, seed)
			for k, who := range m.(belief.Own).Manners(p) {
				switch {
				case k == 2 && test.confuses && who.Reversed > sure:
					found++
				case who.Random > sure || who.Reversed > sure:
					t.Errorf("seed %d: annotator %s clicks at random with probability %.2f, and confuses the answers with %.2f", seed, who.Annotator, who.Random, who.Reversed)
				}
			}
		}
		if found < test.found {
			t.Errorf("who confuses the answers was found in %d of 6 sessions", found)
		}
	}
}

// The answers of one annotator alone, and those of sessions with one noise, are fitted once, and by the
// likelihood that the learner is told.
func TestOneAnnotatorIsTakenAtTheirWord(t *testing.T) {
	cfg := neural.Config{Mode: neural.Anchored, Comparison: belief.Probit{NoiseStd: math.Sqrt(8 / math.Pi)}}
	w := newTask(5)
	alone := w.answers(20)
	for i := range alone.Answers {
		alone.Answers[i].Annotator = "p0"
	}
	several, _ := answeredBy(w, 3, 10)
	learn := func(d idrl.Dataset, own bool) []byte {
		b := must.Get(neural.Learner{Config: cfg, Own: own}.Learn(t.Context(), d, 1, 3))(t)
		return b
	}
	if !bytes.Equal(learn(alone, true), learn(alone, false)) {
		t.Error("the network of one annotator depends on whose the noise is")
	}
	if bytes.Equal(learn(several, true), learn(several, false)) {
		t.Error("the network of three annotators does not depend on whose the noise is")
	}
}
