package belief

import (
	"fmt"
	"math"
	"testing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
)

func TestDbg(t *testing.T) {
	m := Model{Start: Isotropic(5, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}
	o := ownOf(t, m, idrl.CompareClips)
	stream := rng.New(3, "people", 30)
	truth := normals(5, stream)
	qs, as := answersOf(idrl.CompareClips, crowd(3, 0, ""), truth, 125, stream)
	f := fitOwn(t, o, qs, as)
	fmt.Printf("fit   %.4f\n", f.theta.mean)
	var left posterior.Factors
	for i := range qs {
		as[i].Seq = int64(i + 1)
	}
	var p idrl.Posterior
	show := func(s string) {
		l := left.(*left2)
		fmt.Printf("%s %.4f ratio %.4f std %.4f\n", s, p.(*Joint).theta.mean, l.ratio, math.Sqrt(p.(*Joint).theta.cov[0]))
	}
	for n := 60; n <= 125; n += 4 {
		if n == 124 {
			n = 125
		}
		var err error
		var rep idrl.FitReport
		p, left, rep, err = o.Resume(t.Context(), o.Prior(), left, qs[:n], as[:n])
		if err != nil {
			t.Fatal(err)
		}
		_ = rep
		if n > 110 {
			show(fmt.Sprint(n))
		}
	}
	for k := range 30 {
		p, left, _, _ = o.Resume(t.Context(), o.Prior(), left, qs, as)
		if k%3 == 2 {
			show(fmt.Sprint("again", k))
		}
	}
	g := left.(*left2)
	g.measured = 0
	for k := range 4 {
		p, left, _, _ = o.Resume(t.Context(), o.Prior(), left, qs, as)
		show(fmt.Sprint("measured again", k))
		left.(*left2).measured = 0
	}
}

type left2 = left
