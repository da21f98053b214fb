package belief

import (
	"context"
	"math"
	"slices"

	"tiebreak/internal/idrl"

	"gonum.org/v1/gonum/floats"
)

// In expectation propagation, "all annotators click at random" is a stable fixed point. If no answer has information,
// the belief about θ is the prior, no answer is predicted, and each answer is then slightly more probable for an
// annotator who clicks at random. Contradictory answers lead to this fixed point, and further answers do not lead away
// from it. So if most answers are attributed to random clicking, the fit is repeated without that manner for these
// annotators, the suspects. Whether they click is decided by the probabilities of all answers under two hypotheses:
//
//	p(D | no suspect clicks) by filtering, answer by answer, and p(D | all suspects click).
//
// The posterior is the mixture of the two. Source: docs/methods.md, section 2.4.
type clicks struct {
	suspects []int   // places among the people of a fit
	share    float64 // probability that they click at random
	judged   int     // answers by which share is known
	found    int     // answers after which people were last found to click at random; 0: never
	begun    int     // answers after which a resumed fit that did not converge was last begun anew; 0: never
}

const (
	// astray is the change of a resumed fit, in standard deviations, above which it is made from the beginning.
	astray = 1

	// settled is the number of answers above which such a fit is not made from the beginning: the next resumed fits
	// converge, and a fit from the beginning would take long.
	settled = 512

	// patience sets the number of answers between two fits from the beginning: n²/patience at n answers. So all these
	// fits together cost no more than some fits of that many answers.
	patience = 800

	leastWait = 4 // answers between two such fits

	// convicted is the probability of random clicking above which a fit assumes it; below, the posterior is a mixture.
	convicted = 0.99

	// leastMixed is the probability of random clicking above which it is part of the mixture.
	leastMixed = 1e-6
)

// due reports whether, at n answers, a fit from the beginning may be made again if the last one was made at before answers.
func due(n, before int) bool { return n-before >= max(leastWait, n*n/patience) }

// checked returns the fit to be used in place of f: f itself, or one from the beginning if f did not converge or wrongly
// attributes most answers to random clicking.
func (f *joining) checked(ctx context.Context, resumed bool, report *idrl.FitReport) (*joining, error) {
	var err error
	n := len(f.sites)
	if resumed && n <= settled && report.Change > astray && due(n, f.clicks.begun) {
		if f, err = f.again(ctx, f.clicks.suspects, report); err != nil {
			return nil, err
		}
		f.clicks.begun = n
	}
	c := &f.clicks
	if len(c.suspects) > 0 {
		if !due(n, c.judged) {
			return f, nil
		}
		if f.judge(); c.share <= convicted {
			return f, nil
		}
		return f.believed(ctx, report)
	}
	suspects := f.lost()
	if suspects == nil || c.found > 0 && (n-c.found < measureEvery || !due(n, c.found)) {
		return f, nil
	}
	other := *report
	g, err := f.acquitted(ctx, suspects, &other)
	if err != nil {
		return nil, err
	}
	if g == nil {
		c.found = n
		return f, nil
	}
	*report = other
	return g, nil
}

// believed returns the fit from the beginning without suspects, after they were found to click at random.
func (f *joining) believed(ctx context.Context, report *idrl.FitReport) (*joining, error) {
	g, err := f.again(ctx, nil, report)
	if err != nil {
		return nil, err
	}
	g.clicks.found = len(g.sites)
	return g, nil
}

// acquitted returns the fit for the suspects who may have meant their answers; nil if all of them click at random.
func (f *joining) acquitted(ctx context.Context, suspects []int, report *idrl.FitReport) (*joining, error) {
	g, err := f.again(ctx, suspects, report)
	if err != nil {
		return nil, err
	}
	if g.judge(); g.clicks.share > convicted {
		return nil, nil
	}
	if len(suspects) == 1 {
		return g, nil
	}
	var left []int
	for _, i := range suspects {
		if g.sharing([]int{i}) <= convicted {
			left = append(left, i)
		}
	}
	if len(left) == len(suspects) {
		return g, nil
	}
	if g, err = f.again(ctx, left, report); err == nil {
		g.judge()
	}
	return g, err
}

// again returns the fit from the beginning with those suspects.
func (f *joining) again(ctx context.Context, suspects []int, report *idrl.FitReport) (*joining, error) {
	sites := slices.Clone(f.sites)
	for i := range sites {
		sites[i].tau, sites[i].nu = 0, 0
	}
	g := f.Own.joining(f.from, sites, f.lent)
	g.clicks = f.clicks
	g.clicks.suspects = suspects
	g.suspect()
	out, err := g.fit(ctx, nil)
	*report = out
	return g, err
}

// suspect removes the manners that click at random from the suspects.
func (f *joining) suspect() {
	for _, i := range f.clicks.suspects {
		p := &f.people[i]
		p.clicking = slices.Clone(p.prior[f.firstRandom():])
		for k := f.firstRandom(); k < len(p.prior); k++ {
			p.prior[k], p.logs[k] = math.Inf(-1), math.Inf(-1)
		}
	}
}

// lost returns the people with a probability above ½ to click at random, if most answers are theirs; else nil.
func (f *joining) lost() (who []int) {
	for i := range f.people {
		if floats.Sum(f.people[i].shares[f.firstRandom():]) > 0.5 {
			who = append(who, i)
		}
	}
	n := 0
	for i := range f.says {
		if slices.Contains(who, f.says[i].who) {
			n++
		}
	}
	if 2*n <= len(f.says) {
		return nil
	}
	return who
}

// judge sets the probability that all suspects click at random.
func (f *joining) judge() {
	f.clicks.share, f.clicks.judged = f.sharing(f.clicks.suspects), len(f.sites)
}

// sharing returns the probability that all of some suspects click at random, where the alternative is that none of
// them does; 1 if it cannot be computed.
func (f *joining) sharing(who []int) float64 {
	all, ok := f.evidence(nil)
	others, known := f.evidence(who)
	if !ok || !known {
		return 1
	}
	for _, i := range who {
		others += floats.LogSumExp(f.clicked(i))
	}
	return 1 / (1 + math.Exp(all-others))
}

// clicked returns the log probabilities of the answers of suspect i under the manners that click at random, with
// those of the manners.
func (f *joining) clicked(i int) []float64 {
	out := slices.Clone(f.people[i].clicking)
	for j := range f.says {
		if s := &f.says[j]; s.who == i {
			for k := range out {
				out[k] += math.Log(f.randomly(f.firstRandom()+k, s.alike, s.decided))
			}
		}
	}
	return out
}

// evidence returns the logarithm of the probability of the answers of all people but some, by one step of filtering
// per answer. Prior weights are not normalised, so that it is comparable with clicked.
func (f *joining) evidence(but []int) (sum float64, ok bool) {
	theta, w := f.from.theta.clone(), f.work()
	defer f.works.Put(w)
	people := make([]person, len(f.people))
	logs := make([][]float64, len(f.people))
	for i := range f.people {
		p := &f.people[i]
		people[i], logs[i] = p.before, slices.Clone(p.prior)
		if p.clicking != nil && !slices.Contains(but, i) {
			sum += floats.LogSumExp(p.prior)
		}
	}
	for i := range f.sites {
		s, who := f.sites[i].observation, f.says[i].who
		if slices.Contains(but, who) {
			continue
		}
		p := &people[who]
		m, v := idrl.Moments(theta, s.query.X, theta.mean, w.sx)
		if !finite(m, v) || !f.Own.read(w.reading, s, f.all, m, v, p.offset, p.offsetVar) {
			return 0, false
		}
		weights := weightsOf(w.weights, logs[who])
		push := f.mix(w.reading, f.all, weights)
		if !push.possible() {
			return 0, false
		}
		sum += math.Log(push.z / floats.Sum(weights))
		f.learn(logs[who], w.reading)
		p.offset += p.offsetVar * push.offset1
		p.offsetVar += p.offsetVar * p.offsetVar * push.offset2
		theta.shift(s.query.X, w.sx, push.d1, -push.d2)
	}
	return sum, finite(sum)
}

// mixed returns the mixture of g and of the belief by the answers of all others, weighted by the probability that the
// suspects click, as a Gaussian with its mean and covariance.
func (f *joining) mixed(g *Gaussian) *Gaussian {
	share := f.clicks.share
	if len(f.clicks.suspects) == 0 || share < leastMixed {
		return g
	}
	var others []site
	for i, s := range f.sites {
		if !slices.Contains(f.clicks.suspects, f.says[i].who) {
			others = append(others, s)
		}
	}
	var report idrl.FitReport
	rest := product(f.from.theta, others, &report)
	out := blank(g.Dim())
	for i := range out.cov {
		out.cov[i] = (1-share)*g.cov[i] + share*rest.cov[i]
	}
	between := make([]float64, len(g.mean))
	floats.SubTo(between, rest.mean, g.mean)
	floats.AddScaledTo(out.mean, g.mean, share, between)
	out.widen(between, share*(1-share))
	return out
}

// accuse sets the log weights of the manners of person i that click at random, if the person is a suspect.
func (f *joining) accuse(i int, logs []float64) {
	if !slices.Contains(f.clicks.suspects, i) {
		return
	}
	first, of := f.firstRandom(), f.clicked(i)
	meant, all := floats.LogSumExp(logs[:first]), floats.LogSumExp(of)
	odds := math.Log(f.clicks.share) - math.Log1p(-f.clicks.share)
	for k, log := range of {
		logs[first+k] = meant + odds + log - all
	}
}
