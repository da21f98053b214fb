package belief

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

func ownOf(t testing.TB, m Model, kind idrl.QueryKind) Own {
	t.Helper()
	o, ok := m.Own(kind)
	if !ok {
		t.Fatalf("%+v has no model of annotators", m)
	}
	return o
}

// An answerer answers as somebody whose manner is known.
type answerer struct {
	id                                    idrl.AnnotatorID
	noise, tie, lapse, offset, scale, std float64 // std of the noise in units of u
}

// answer is what a person says to a question whose true u is given.
func (p answerer) answer(kind idrl.QueryKind, u float64, stream *rand.Rand) (a idrl.Answer) {
	switch lapses := stream.Float64() < p.lapse; {
	case kind.Comparison() && lapses:
		a.Choice = []idrl.Choice{idrl.ChoseA, idrl.ChoseB}[stream.IntN(2)]
	case kind.Comparison():
		a = compared(u+p.noise*p.std*stream.NormFloat64(), p.noise*p.tie)
	case lapses:
		a = rate(2*stream.Float64() - 1)
	default:
		a = rate(max(-1, min(1, p.offset+p.scale*u+p.noise*p.std*stream.NormFloat64())))
	}
	a.Annotator = p.id
	return a
}

// answersOf returns n answers of people in turn about weights truth.
func answersOf(kind idrl.QueryKind, people []answerer, truth []float64, n int, stream *rand.Rand) (qs []idrl.QueryVector, as []idrl.Answer) {
	for k := range n {
		q := idrl.QueryVector{Query: idrl.Query{ID: "q", Kind: kind}, X: normals(len(truth), stream)}
		qs = append(qs, q)
		as = append(as, people[k%len(people)].answer(kind, floats.Dot(q.X, truth), stream))
	}
	return qs, as
}

func fitOwn(t testing.TB, o Own, qs []idrl.QueryVector, as []idrl.Answer) *Joint {
	t.Helper()
	p, _, err := o.Fit(t.Context(), o.Prior(), qs, as)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*Joint)
}

// given returns p_k(y|u) of a manner, as the doc comment of manners states it.
func (g *manners) given(k int, a idrl.Answer, u, offset float64) float64 {
	w := g.list[k]
	b, q := g.bases[w.base], 1.0/3
	if w.decided {
		q = (1 - rarelyEqual) / 2
		if a.Choice == idrl.Equal {
			q = rarelyEqual
		}
	}
	if a.Choice == idrl.Rated {
		q = 0.45
		if math.Abs(a.Rating) == 1 {
			q = 0.05
		}
		sigma := math.Sqrt(b.of.(RatingClipped).NoiseVar)
		n := distuv.Normal{Mu: offset + b.scale*u, Sigma: sigma}
		switch {
		case a.Rating == 1:
			return w.rate*q + (1-w.rate)*n.Survival(1)
		case a.Rating == -1:
			return w.rate*q + (1-w.rate)*n.CDF(-1)
		}
		return w.rate*q + (1-w.rate)*n.Prob(a.Rating)
	}
	for _, o := range probitOutcomes(b.of.(Probit)) {
		if o.answer.Choice == a.Choice {
			return w.rate*q + (1-w.rate)*o.given(u)
		}
	}
	panic("no such outcome")
}

// The update is moment matching of u, of the weights of the manners, and of the offset.
func TestOwnUpdateByQuadrature(t *testing.T) {
	for _, test := range []struct {
		kind idrl.QueryKind
		a    idrl.Answer
	}{
		{idrl.CompareClips, idrl.Answer{Choice: idrl.ChoseA}},
		{idrl.CompareClips, idrl.Answer{Choice: idrl.Equal}},
		{idrl.RateClip, rate(0.4)},
		{idrl.RateClip, rate(-1)},
	} {
		t.Run(fmt.Sprint(test.kind, test.a.Choice, test.a.Rating), func(t *testing.T) {
			m := Model{Start: Isotropic(1, 1.3), Comparison: Probit{NoiseStd: 1, TieBand: 0.3}, Rating: RatingClipped{NoiseVar: 0.1}}
			o := ownOf(t, m, test.kind).Always()
			before := must.Get(o.Condition(o.Prior(), idrl.QueryVector{Query: idrl.Query{Kind: test.kind}, X: []float64{0.8}}, test.a))(t)
			p := must.Get(o.Condition(before, idrl.QueryVector{Query: idrl.Query{Kind: test.kind}, X: []float64{1}}, test.a))(t)
			was, is := before.(*Joint), p.(*Joint)
			mean, v := was.theta.moments([]float64{1})
			who, now := was.people[0], is.people[0]
			sum := 0.0
			for _, l := range who.logs {
				sum += math.Exp(float64(l))
			}
			// Z of a manner, and the first two moments of u and of the offset, over a grid of the two.
			var z, u1, u2, o1, o2 float64
			weights := make([]float64, len(who.logs))
			offsets, step := []float64{0}, 0.0
			if who.offsetVar > 0 {
				offsets, step = nil, math.Sqrt(who.offsetVar)/4
				for k := -24.0; k <= 24; k++ {
					offsets = append(offsets, who.offset+k*step)
				}
			}
			du := math.Sqrt(v) / 60
			for _, offset := range offsets {
				share := 1.0
				if step > 0 {
					share = step * distuv.Normal{Mu: who.offset, Sigma: math.Sqrt(who.offsetVar)}.Prob(offset)
				}
				for u := mean - 480*du; u <= mean+480*du; u += du {
					at := share * du * distuv.Normal{Mu: mean, Sigma: math.Sqrt(v)}.Prob(u)
					for k, l := range who.logs {
						w := at * math.Exp(float64(l)) / sum * o.given(k, test.a, u, offset)
						weights[k] += w
						z, u1, u2, o1, o2 = z+w, u1+w*u, u2+w*u*u, o1+w*offset, o2+w*offset*offset
					}
				}
			}
			got, gotVar := is.theta.moments([]float64{1})
			within(t, "mean of u", got, u1/z, 1e-5)
			within(t, "variance of u", gotVar, u2/z-square(u1/z), 1e-5)
			within(t, "offset", now.offset, o1/z, 1e-5)
			within(t, "variance of the offset", now.offsetVar, o2/z-square(o1/z), 1e-5)
			sum = 0
			for _, l := range now.logs {
				sum += math.Exp(float64(l))
			}
			for k, l := range now.logs {
				if want := weights[k] / z; want > 1e-4 {
					within(t, fmt.Sprint("weight of manner ", k), math.Exp(float64(l))/sum, want, 1e-4)
				}
			}
		})
	}
}

// The likelihood by which questions are chosen adds up to one, and its information is that of
// its answers.
func TestBlend(t *testing.T) {
	m := Model{Start: Isotropic(1, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.3}, Rating: RatingClipped{NoiseVar: 0.1}}
	for _, mean := range []float64{-1.5, 0, 0.4} {
		const v, h = 0.8, 1e-4
		l := ownOf(t, m, idrl.CompareClips).Likelihood(idrl.Query{Kind: idrl.CompareClips})
		var sum, info float64
		for _, c := range []idrl.Choice{idrl.ChoseA, idrl.ChoseB, idrl.Equal} {
			z, d1, d2 := l.LogZ(idrl.Answer{Choice: c}, mean, v)
			up, slopeUp, _ := l.LogZ(idrl.Answer{Choice: c}, mean+h, v)
			down, slopeDown, _ := l.LogZ(idrl.Answer{Choice: c}, mean-h, v)
			within(t, "d1", d1, (up-down)/(2*h), 1e-6)
			within(t, "d2", d2, (slopeUp-slopeDown)/(2*h), 1e-6)
			sum, info = sum+math.Exp(z), info+math.Exp(z)*d1*d1
		}
		within(t, "sum", sum, 1, 1e-9)
		within(t, "information", l.Info(mean, v), info, 0.03*info) // bases of one noise count as one
		if most := l.(interface{ MostInfo(float64) float64 }).MostInfo(v); most < info {
			t.Errorf("information %v above its bound %v", info, most)
		}
		for x := -6.0; x <= 6; x += 0.05 { // the bound holds where three intervals tell most
			for _, w := range []float64{1e-3, 0.1, 1, 10} {
				bound := l.(interface{ MostInfo(float64) float64 }).MostInfo(w)
				if got := l.Info(x, w); got > bound {
					t.Fatalf("information %v at mean %v and variance %v above its bound %v", got, x, w, bound)
				}
			}
		}
		r := ownOf(t, m, idrl.RateClip).Likelihood(idrl.Query{Kind: idrl.RateClip})
		sum, info = 0, 0
		add := func(y, width float64) {
			z, d1, _ := r.LogZ(rate(y), mean, v)
			sum, info = sum+width*math.Exp(z), info+width*math.Exp(z)*d1*d1
		}
		add(-1, 1)
		add(1, 1)
		const n = 4000
		for k := range n {
			add(-1+2*(float64(k)+0.5)/n, 2.0/n)
		}
		within(t, "sum of ratings", sum, 1, 1e-6)
		within(t, "information of ratings", r.Info(mean, v), info, 0.03*info)
	}
}

// Of one weight and three people, one of whom clicks at random, the exact posterior is known:
// p(θ|D) ∝ p(θ) Π_a Σ_k w_k Π_i p_k(y_i|θ x_i), on a grid of θ. A fit comes near to it, nearer than
// the model that shares the noise.
func TestOwnNearTheExactPosterior(t *testing.T) {
	m := Model{Start: Isotropic(1, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}
	o := ownOf(t, m, idrl.CompareClips)
	people := []answerer{{id: "ann", noise: 1, tie: 0.25, std: 1}, {id: "bob", noise: 0.7, tie: 0.25, std: 1}, {id: "clicker", lapse: 1}}
	var off, shared float64
	const runs = 12
	for seed := range uint64(runs) {
		stream := rng.New(seed, "exact", 0)
		truth := normals(1, stream)
		qs, as := answersOf(idrl.CompareClips, people, truth, 36, stream)
		var z, m1, m2 float64
		random := make([]float64, len(people))
		for theta := -5.0; theta <= 5; theta += 0.05 {
			log := -theta * theta / 2
			at := make([]float64, len(people))
			for a := range people {
				var all, clicks float64
				for k, l := range o.priorAmong(len(people)) {
					w := math.Exp(l)
					for i := a; i < len(as); i += len(people) {
						w *= o.given(k, as[i], theta*qs[i].X[0], 0)
					}
					if all += w; o.list[k].rate == 1 {
						clicks += w
					}
				}
				log += math.Log(all)
				at[a] = clicks / all
			}
			w := math.Exp(log)
			z, m1, m2 = z+w, m1+w*theta, m2+w*theta*theta
			for a := range at {
				random[a] += w * at[a]
			}
		}
		mean, std := m1/z, math.Sqrt(m2/z-square(m1/z))
		j := fitOwn(t, o, qs, as)
		got, v := j.theta.moments([]float64{1})
		plain, _, err := m.Fit(t.Context(), m.Prior(), qs, as)
		if err != nil {
			t.Fatal(err)
		}
		off, shared = off+math.Abs(got-mean)/std/runs, shared+math.Abs(plain.Mean(nil)[0]-mean)/std/runs
		if ratio := math.Sqrt(v) / std; ratio < 0.6 || ratio > 1.45 { // 1.40 where θ is near 0, so that who confuses the answers is open
			t.Errorf("run %d: standard deviation %.3f, exact %.3f", seed, math.Sqrt(v), std)
		}
		for a, who := range o.Manners(j) {
			if math.Abs(who.Random-random[a]/z) > 0.25 {
				t.Errorf("run %d: %s clicks at random with probability %.2f, exact %.2f", seed, who.Annotator, who.Random, random[a]/z)
			}
		}
	}
	t.Logf("off by %.2f standard deviations; with shared noise by %.2f", off, shared)
	if off > 0.25 || shared < 2*off {
		t.Error("want at most 0.25, and less than half of what shared noise is off by")
	}
}

// A fit is a function of its arguments, an encoding gives back every bit, and can't tell
// changes nothing.
func TestOwnIsAFunctionOfTheAnswers(t *testing.T) {
	m := Model{Start: Isotropic(4, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}, Rating: RatingClipped{NoiseVar: 0.05}}
	people := []answerer{{id: "zoe", noise: 1, tie: 0.25, std: 1, scale: 1}, {id: "ann", lapse: 1}}
	for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateClip} {
		o, stream := ownOf(t, m, kind), rng.New(1, "function", 0)
		qs, as := answersOf(kind, people, normals(4, stream), 40, stream)
		bits := func(p idrl.Posterior) []byte {
			b := must.Get(o.Encode(p))(t)
			return b
		}
		once := fitOwn(t, o, qs, as)
		if !bytes.Equal(bits(once), bits(fitOwn(t, o, qs, as))) {
			t.Error("the same answers give another posterior")
		}
		decoded := must.Get(o.Decode(bits(once)))(t)
		if !bytes.Equal(bits(decoded), bits(once)) {
			t.Error("the posterior changed on the way")
		}
		next := func(p idrl.Posterior) []byte {
			p = must.Get(o.Condition(p, qs[0], as[1]))(t)
			return bits(p)
		}
		if !bytes.Equal(next(decoded), next(once)) {
			t.Error("a decoded posterior goes on differently")
		}
		with, answers := append(slices.Clone(qs), qs[0]), append(slices.Clone(as), idrl.Answer{Annotator: "eve", Choice: idrl.CantTell})
		if !bytes.Equal(bits(fitOwn(t, o, with, answers)), bits(once)) {
			t.Error("can't tell moves a fit")
		}
		if p, err := o.Condition(once, qs[0], answers[len(as)]); err != nil || !bytes.Equal(bits(p), bits(once)) {
			t.Errorf("can't tell moves the posterior, %v", err)
		}
	}
}

func TestJointCodecRefuses(t *testing.T) {
	o := ownOf(t, model(2), idrl.CompareClips)
	p := must.Get(o.Condition(o.Prior(), comparison(1, 2), idrl.Answer{Choice: idrl.ChoseA, Annotator: "ann"}))(t)
	good := must.Get(o.Encode(p))(t)
	for n := range good {
		if _, err := o.Decode(good[:n]); err == nil {
			t.Fatalf("%d of %d bytes are taken", n, len(good))
		}
		changed := bytes.Clone(good)
		changed[n] ^= 4
		if _, err := o.Decode(changed); err == nil {
			t.Fatalf("a change of byte %d is not seen", n)
		}
	}
	if _, err := ownOf(t, model(3), idrl.CompareClips).Decode(good); err == nil {
		t.Error("two weights for three")
	}
	if _, err := ownOf(t, model(2), idrl.RateClip).Decode(good); err == nil {
		t.Error("manners of comparisons for those of ratings")
	}
	if _, err := o.Decode(encode(t, Isotropic(2, 1))); err == nil {
		t.Error("a Gaussian is taken for a belief about annotators")
	}
	if _, err := o.Encode(Isotropic(2, 1)); err == nil {
		t.Error("a Gaussian is encoded as a belief about annotators")
	}
}

// The order of four annotators is found from their answers alone, and the intervals of what is
// told of them cover.
func TestMannersAreTrue(t *testing.T) {
	const d, runs, each = 6, 24, 60
	covered, asked := map[string]int{}, map[string]int{}
	note := func(what string, r idrl.Range, truth float64) {
		if asked[what]++; truth >= r.Low && truth <= r.High {
			covered[what]++
		}
	}
	for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateClip} {
		m := Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1.5, TieBand: 0.4}, Rating: RatingClipped{NoiseVar: 0.05}}
		if !kind.Comparison() {
			m.Start = Isotropic(d, 0.1)
		}
		o, ordered, clickers := ownOf(t, m, kind), 0, 0
		for seed := range uint64(runs) {
			stream := rng.New(seed, "manners "+string(kind), 0)
			truth := m.Start.Sample(nil, stream)
			std := 1.5
			if !kind.Comparison() {
				std = math.Sqrt(0.05)
			}
			var people []answerer
			for k, noise := range []float64{0.5, 1.1, 2.6} {
				noise *= math.Exp2(0.2 * (2*stream.Float64() - 1))
				people = append(people, answerer{
					id: idrl.AnnotatorID(fmt.Sprint(k)), noise: noise, tie: 0.4 * []float64{0.4, 1, 1.6}[stream.IntN(3)], std: std, lapse: 0.1 * stream.Float64(),
					offset: 0.15 * stream.NormFloat64(), scale: math.Exp2(0.35 * stream.NormFloat64()),
				})
			}
			people = append(people, answerer{id: "3", lapse: 1})
			qs, as := answersOf(kind, people, truth, each*len(people), stream)
			got := o.Manners(fitOwn(t, o, qs, as))
			if got[0].Noise.Middle < got[1].Noise.Middle && got[1].Noise.Middle < got[2].Noise.Middle {
				ordered++
			}
			if got[3].Random > 0.8 && max(got[0].Random, got[1].Random) < 0.2 {
				clickers++
			}
			mean := math.Cbrt(people[0].scale * people[1].scale * people[2].scale)
			for k, p := range people[:3] {
				note(string(kind)+" noise", got[k].Noise, p.noise)
				note(string(kind)+" lapses", got[k].Lapse, p.lapse)
				if kind.Comparison() {
					note("tie width", got[k].TieWidth, p.tie/0.4)
				} else {
					note("offset", got[k].Offset, p.offset)
					note("scale", got[k].Scale, p.scale/mean)
				}
			}
		}
		t.Logf("%s: ordered in %d of %d, clickers known in %d", kind, ordered, runs, clickers)
		if ordered < runs*8/10 || clickers < runs*8/10 {
			t.Error("want the order found and the clicker known in eight of ten runs")
		}
	}
	for what, n := range asked {
		t.Logf("%s: %d of %d within the interval", what, covered[what], n)
		if float64(covered[what]) < 0.85*float64(n) {
			t.Errorf("the intervals of %s cover too seldom", what)
		}
	}
}

// Shares of lapses that are shown are true in nine of ten cases, those of a few answers are not shown, and those of a reliable person
// usually are after as many answers as the page says.
func TestLapsesAreShownWhereTheyAreKnown(t *testing.T) {
	const d, runs = 6, 20
	for _, kind := range []idrl.QueryKind{idrl.CompareClips, idrl.RateClip} {
		m, std := Model{Start: Isotropic(d, 1), Comparison: Probit{NoiseStd: 1.5, TieBand: 0.4}, Rating: RatingClipped{NoiseVar: 0.05}}, 1.5
		if !kind.Comparison() {
			m.Start, std = Isotropic(d, 0.1), math.Sqrt(0.05)
		}
		o, shown, covered, reliable, early := ownOf(t, m, kind), 0, 0, 0, 0
		for seed := range uint64(runs) {
			for _, each := range []int{2, idrl.LapseAnswers, 2 * idrl.LapseAnswers} {
				stream := rng.New(seed, "lapses "+string(kind), uint64(each))
				truth := m.Start.Sample(nil, stream)
				var people []answerer
				for k, lapse := range []float64{0, 0.3 * stream.Float64(), 0.5, 1} {
					people = append(people, answerer{id: idrl.AnnotatorID(fmt.Sprint(k)), noise: 0.5 + float64(k)/4, tie: 0.4, std: std, lapse: lapse, scale: 1})
				}
				qs, as := answersOf(kind, people, truth, each*len(people), stream)
				for k, got := range o.Manners(fitOwn(t, o, qs, as)) {
					switch {
					case !got.LapseKnown():
						continue
					case each == 2:
						early++
					case each == idrl.LapseAnswers && k == 0:
						reliable++
					}
					shown++
					if l := people[k].lapse; l >= got.Lapse.Low && l <= got.Lapse.High {
						covered++
					}
				}
			}
		}
		t.Logf("%s: %d shown, %d of them true; of %d reliable people %d; after two answers %d", kind, shown, covered, runs, reliable, early)
		if early > 0 || reliable < runs*7/10 || float64(covered) < 0.85*float64(shown) {
			t.Errorf("%s: want those shown to be true, and the reliable people among them, but none after two answers", kind)
		}
	}
}

// While one annotator alone has answered, the posterior and the likelihood are those of the
// model that the session is told; then each has their own.
func TestOwnOfOneAlone(t *testing.T) {
	m := Model{Start: Isotropic(3, 1), Comparison: Probit{NoiseStd: 1, TieBand: 0.25}}
	o, stream := ownOf(t, m, idrl.CompareClips), rng.New(1, "alone", 0)
	qs, as := answersOf(idrl.CompareClips, []answerer{{id: "ann", noise: 1, tie: 0.25, std: 1}}, normals(3, stream), 20, stream)
	plain, _, err := m.Fit(t.Context(), m.Prior(), qs, as)
	if err != nil {
		t.Fatal(err)
	}
	j := fitOwn(t, o, qs, as)
	if !bytes.Equal(encode(t, j.theta), encode(t, plain.(*Gaussian))) {
		t.Error("a fit of one annotator's answers is another than that of the model")
	}
	updates := updateAll(t, o, qs, as).(*Joint)
	if !bytes.Equal(encode(t, updates.theta), encode(t, updateAll(t, m, qs, as).(*Gaussian))) {
		t.Error("updates by one annotator's answers are others than those of the model")
	}
	if l := o.Asking(j, "ann").Likelihood(qs[0].Query); l != m.Comparison {
		t.Errorf("the likelihood is %+v", l)
	}
	if _, blended := o.Asking(j, "bob").Likelihood(qs[0].Query).(blend); !blended || o.Manners(j) != nil {
		t.Error("somebody else is taken for known, or one alone is described")
	}
	as[19].Annotator = "bob"
	two := fitOwn(t, o, qs, as)
	if bytes.Equal(encode(t, two.theta), encode(t, plain.(*Gaussian))) || len(o.Manners(two)) != 2 {
		t.Error("the noise of two annotators is taken for known")
	}
}

// One person's offset does not eat the reward: ratings that are all high raise what is rated.
func TestOffsetOfOnePerson(t *testing.T) {
	m := Model{Start: Isotropic(1, 1), Rating: RatingClipped{NoiseVar: 0.05}}
	o := ownOf(t, m, idrl.RateClip).Always()
	qs, as := slices.Repeat([]idrl.QueryVector{rating(1)}, 10), slices.Repeat([]idrl.Answer{rate(0.8)}, 10)
	j := fitOwn(t, o, qs, as)
	if mean := j.Mean(nil)[0]; mean < 0.5 {
		t.Errorf("mean %v after ten ratings of 0.8", mean)
	}
	if off := o.Manners(j)[0].Offset; off.Middle > 0.15 {
		t.Errorf("offset %+v", off)
	}
}

// What is said beside a choice, much better and a remark, is read by each one's own noise: the
// answers add up to one, a remark tells of its annotator and of the average of the clips, and
// those of somebody who clicks at random move less.
func TestOwnOfWhatIsSaidBesideAChoice(t *testing.T) {
	p := Probit{NoiseStd: 1, TieBand: 0.25}
	m := Model{Start: Isotropic(2, 1), Comparison: Graded{Of: p, Much: 1.5}, Remark: Probit{NoiseStd: 1}}
	o := ownOf(t, m, idrl.CompareClips)
	l := o.Likelihood(idrl.Query{Kind: idrl.CompareClips})
	var sum, info float64
	for _, a := range idrl.Replies(l) {
		z, d1, _ := l.LogZ(a, 0.7, 1.2)
		sum, info = sum+math.Exp(z), info+math.Exp(z)*d1*d1
	}
	within(t, "sum", sum, 1, 1e-9)
	within(t, "information", l.Info(0.7, 1.2), info, 1e-12)
	q := comparison(1, 0)
	q.Mid = []float64{0, 1}
	good := func(who idrl.AnnotatorID) idrl.Answer {
		return idrl.Answer{Choice: idrl.ChoseA, Much: true, Remark: idrl.BothGood, Annotator: who}
	}
	known := &Joint{theta: m.Start, people: []person{o.person(&Joint{}, "ann"), o.person(&Joint{}, "clicker")}}
	for i := range known.people { // those of strangers are shared
		known.people[i].logs = slices.Clone(known.people[i].logs)
	}
	for k, w := range o.list {
		for i, random := range []bool{false, true} {
			if (w.rate == 1) != random {
				known.people[i].logs[k] = faintest
			}
		}
	}
	mean := func(who idrl.AnnotatorID) []float64 {
		p := must.Get(o.Condition(known, q, good(who)))(t)
		return p.Mean(nil)
	}
	ann, clicks := mean("ann"), mean("clicker")
	for i := range ann {
		if !(ann[i] > 0.2 && clicks[i] < 0.02) {
			t.Errorf("weight %d is %v after an answer, and %v after that of somebody who clicks at random", i, ann[i], clicks[i])
		}
	}
	var qs []idrl.QueryVector
	var as []idrl.Answer
	for range 20 {
		qs, as = append(qs, q, q), append(as, good("ann"), good("bob"))
	}
	if j := fitOwn(t, o, qs, as); !(j.Mean(nil)[1] > 0.5) {
		t.Errorf("after 40 remarks that both are good their weight is %v", j.Mean(nil)[1])
	}
}

func TestNoOwn(t *testing.T) {
	for name, m := range map[string]Model{
		"gaussian":  {Start: Isotropic(2, 1), Comparison: PlusMinus{NoiseVar: 1}},
		"bernoulli": {Start: Isotropic(2, 1), Comparison: BernoulliLinear{}},
	} {
		if _, ok := m.Own(idrl.CompareClips); ok {
			t.Errorf("%s has a model of annotators", name)
		}
	}
	if _, ok := model(2).Own(idrl.GroupClips); ok {
		t.Error("groups have a model of annotators")
	}
}
