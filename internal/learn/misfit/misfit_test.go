package misfit_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/misfit"
	"tiebreak/internal/learn/posterior"

	"gonum.org/v1/gonum/floats"
)

// dim is the number of features that are known.
const dim = 3

var model = belief.Model{Start: belief.Isotropic(dim, 1), Comparison: belief.Probit{NoiseStd: 1, TieBand: 0.25}}

func rival(stds []float64) posterior.Personal {
	own, _ := model.Beside(stds).Own(idrl.CompareClips)
	return own.Always()
}

// A list is made of answers of somebody who lapses at a rate, and to whom a feature that is not known counts hidden
// times as much as each of the others.
func list(seed uint64, n int, lapses, hidden float64) (qs []idrl.QueryVector, as []idrl.Answer) {
	r := rng.New(seed, "list", 0)
	normals := func(n int, std float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = std * r.NormFloat64()
		}
		return out
	}
	theta := append(normals(dim, 1), hidden)
	var clips [20][]float64
	for i := range clips {
		clips[i] = normals(dim+1, 3)
	}
	for k := range n {
		i := r.IntN(len(clips))
		j := (i + 1 + r.IntN(len(clips)-1)) % len(clips)
		x := floats.SubTo(make([]float64, dim+1), clips[i], clips[j])
		u := floats.Dot(theta, x) + r.NormFloat64()
		a := idrl.Answer{Seq: int64(k + 1), Annotator: "ann", Choice: idrl.Equal}
		switch {
		case r.Float64() < lapses:
			a.Choice = []idrl.Choice{idrl.ChoseA, idrl.ChoseB}[r.IntN(2)]
		case u > 0.25:
			a.Choice = idrl.ChoseA
		case u < -0.25:
			a.Choice = idrl.ChoseB
		}
		q := idrl.Query{ID: idrl.QueryID(fmt.Sprint("q", k)), Kind: idrl.CompareClips, Clips: []idrl.ClipID{idrl.ClipID(fmt.Sprint(i)), idrl.ClipID(fmt.Sprint(j))}}
		qs, as = append(qs, idrl.QueryVector{Query: q, X: x[:dim]}), append(as, a)
	}
	return qs, as
}

func take(t *testing.T, qs []idrl.QueryVector, as []idrl.Answer) *misfit.Test {
	t.Helper()
	out := misfit.New(rival)
	for i := range qs {
		must.Do(t, out.Take(&qs[i], as[i]))
	}
	return out
}

// Where the features tell all there is an alarm in about one session of twenty of people who lapse, and in fewer of
// others; where a feature is not known that counts as much as each of the others, in four of five within 60 answers.
func TestAlarms(t *testing.T) {
	const lists = 200
	for _, test := range []struct {
		name           string
		lapses, hidden float64
		least, most    int
	}{
		{"as assumed", 0, 0, 0, 10},  // 5 % of 200
		{"lapses", 0.1, 0, 0, 20},    // 55 of 1000 were measured, and 2.6 standard deviations
		{"hidden", 0, 1, 145, lists}, // likewise 797 of 1000
	} {
		alarms := 0
		for seed := range uint64(lists) {
			if qs, as := list(seed, 60, test.lapses, test.hidden); take(t, qs, as).Alarm() {
				alarms++
			}
		}
		t.Logf("%s: %d of %d", test.name, alarms, lists)
		if alarms < test.least || alarms > test.most {
			t.Errorf("%s: %d alarms of %d, want %d to %d", test.name, alarms, lists, test.least, test.most)
		}
	}
}

// The greatest logarithm of the Bayes factor is that of models which have room for all clips from the beginning.
func TestRoomChangesNothing(t *testing.T) {
	qs, as := list(3, 40, 0.1, 1)
	slices.SortStableFunc(qs, func(a, b idrl.QueryVector) int { // so that clips come late, too
		return strings.Compare(max(string(a.Clips[0]), string(a.Clips[1])), max(string(b.Clips[0]), string(b.Clips[1])))
	})
	var variance float64 // of the features of a clip, by the first five questions
	for _, q := range qs[:5] {
		variance += floats.Dot(q.X, q.X) / 10
	}
	logP := func(share float64) (logs []float64) {
		m := rival(slices.Repeat([]float64{share * math.Sqrt(variance)}, 20))
		p := m.Prior()
		sum := 0.0
		for i, q := range qs {
			x := append(slices.Clone(q.X), make([]float64, 20)...)
			for k, sign := range []float64{1, -1} {
				at, _ := strconv.Atoi(string(q.Clips[k]))
				x[dim+at] += sign
			}
			q.X = x
			mean, v := idrl.Moments(p, x, p.Mean(nil), make([]float64, p.Dim()))
			z, _, _ := m.Asking(p, "ann").Likelihood(q.Query).LogZ(as[i], mean, v)
			if i >= 5 {
				sum += z
			}
			logs = append(logs, sum)
			var err error
			if p, err = m.Condition(p, q, as[i]); err != nil {
				t.Fatal(err)
			}
		}
		return logs
	}
	none, some, more, want := logP(1e-9), logP(0.3), logP(1), 0.0
	for i := range qs {
		want = max(want, math.Log(math.Exp(some[i])/2+math.Exp(more[i])/2)-none[i])
	}
	got := take(t, qs, as)
	if math.Abs(got.Top()-want) > 1e-5 || want < 0.5 {
		t.Errorf("%v, want %v, above 0.5", got.Top(), want)
	}
	if rows := got.Unexplained(3); len(rows) != 3 {
		t.Errorf("unexplained are %v, want three", rows)
	}
}

// Two models that are the same predict the same: with values of clips that hardly vary nothing is gained.
func TestNothingGained(t *testing.T) {
	qs, as := list(5, 30, 0, 1)
	out := misfit.New(func(stds []float64) posterior.Personal {
		small := slices.Clone(stds)
		floats.Scale(1e-9, small)
		return rival(small)
	})
	for i := range qs {
		must.Do(t, out.Take(&qs[i], as[i]))
	}
	if math.Abs(out.Top()) > 1e-6 || out.Alarm() {
		t.Errorf("%v, want 0", out.Top())
	}
}

// Answers that nothing can be learnt from raise no alarm: the features of all clips are alike.
func TestNoFeatures(t *testing.T) {
	qs, as := list(7, 30, 0, 1)
	for i := range qs {
		qs[i].X = make([]float64, dim)
	}
	if out := take(t, qs, as); out.Alarm() || out.Unexplained(3) != nil {
		t.Errorf("%v: %v", out.Top(), out.Unexplained(3))
	}
}

// BenchmarkTake is a test of 60 answers about 20 clips, from the first on.
func BenchmarkTake(b *testing.B) {
	qs, as := list(1, 60, 0, 1)
	for b.Loop() {
		t := misfit.New(rival)
		for i := range qs {
			must.Do(b, t.Take(&qs[i], as[i]))
		}
	}
}
