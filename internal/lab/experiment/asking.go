package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"

	"gonum.org/v1/gonum/floats"
)

// A Way is a way of asking people, with what it costs of their time.
type Way struct {
	Name  string
	About string

	// people returns what a session believes of answers, and the person who gives them,
	// where noise is theirs. nil: those of a session that compares.
	people func(s *stage, noise float64) (belief.Model, *person)

	seen bool // clips are drawn, and questions are those that people can answer
	made bool // clips are made for questions
}

// A person compares u + noise with bands around zero, says what their way of being asked
// lets them say, and takes their time.
type person struct {
	theta      []float64
	noise, tie float64
	much       float64 // +Inf: never much better
	remarks    float64 // remarks where the average of both clips is beyond this; +Inf: never
	seconds    float64 // of an answer
	remarking  float64 // seconds of a remark
}

// Ways returns the ways of asking, plain comparisons first.
func Ways() []Way {
	strength := func(factor float64) func(*stage, float64) (belief.Model, *person) {
		return func(s *stage, noise float64) (belief.Model, *person) {
			p := newPerson(s.theta, noise)
			p.much, p.seconds = factor*2*noise, 3.4
			return s.models(p, true, false), p
		}
	}
	remarks := func(s *stage, noise float64) *person {
		p := newPerson(s.theta, noise)
		p.remarks = 2 * noise
		return p
	}
	return []Way{
		{Name: "plain", About: "which clip is better, or equal; 3.0 s"},
		{Name: "answerable", About: "the same, only questions that people can answer and that mean something else than the last ones", seen: true},
		{Name: "made", About: "plain, also about clips that are made to tell most", made: true},
		{Name: "answerable, made", About: "both of them", seen: true, made: true},
		{Name: "strength", About: "also whether it is much better; 3.4 s", people: strength(1)},
		{Name: "strength, soon", About: "the same, of people who say it from half the difference on that is assumed", people: strength(0.5)},
		{Name: "strength, seldom", About: "the same, from twice that difference on", people: strength(2)},
		{Name: "remarks", About: "both bad, both good where it is clear; 3.0 s, and 0.5 s for a remark", people: func(s *stage, noise float64) (belief.Model, *person) {
			p := remarks(s, noise)
			return s.models(p, false, true), p
		}},
		{Name: "strength and remarks", About: "both of them; 3.4 s, and 0.5 s for a remark", people: func(s *stage, noise float64) (belief.Model, *person) {
			p := remarks(s, noise)
			p.much, p.seconds = 2*noise, 3.4
			return s.models(p, true, true), p
		}},
		{Name: "best and worst of six", About: "of six looping clips; 9 s", people: func(s *stage, noise float64) (belief.Model, *person) {
			p := newPerson(s.theta, noise)
			p.seconds = 9
			return belief.Model{Start: s.prior, Group: belief.BestWorst{NoiseStd: noise, Lapse: belief.GroupLapse}, Comparison: belief.Probit{NoiseStd: noise, TieBand: noise / 4}, OfGroups: true}, p
		}},
	}
}

// plain is the way of sessions without further settings.
func plain(s *stage, noise float64) (belief.Model, *person) {
	p := newPerson(s.theta, noise)
	return s.models(p, false, false), p
}

// personOf returns a person who is right about a share of the pairs that the first queries are about, all of them together. Ratings
// are of clips one by one: two of them tell as much about a pair as its comparison does.
func personOf(theta []float64, first []idrl.QueryVector, right float64) *person {
	var values, differences []float64
	for _, q := range first {
		u := floats.Dot(theta, q.X)
		if q.Kind.Comparison() {
			differences = append(differences, u)
			continue
		}
		for _, v := range values {
			differences = append(differences, u-v)
		}
		values = append(values, u)
	}
	return newPerson(theta, stats.NoiseOfRight(differences, right))
}

// newPerson returns one who only compares and rates.
func newPerson(theta []float64, noise float64) *person {
	return &person{
		theta: theta, noise: noise, tie: noise / 4, much: math.Inf(1), remarks: math.Inf(1), seconds: 3, remarking: 0.5,
	}
}

// model returns what a session believes of p who compares or rates.
func (p *person) model(prior *belief.Gaussian) belief.Model {
	return belief.Model{
		Start: prior, Comparison: belief.Probit{NoiseStd: p.noise, TieBand: p.tie}, Rating: belief.Rating{NoiseVar: p.noise * p.noise / 2}, OffScale: true,
	}
}

// models returns what a session believes of p: the noise and the ties as they are, and the
// default of what is much better.
func (s *stage) models(p *person, strength, remarks bool) belief.Model {
	bands := belief.Probit{NoiseStd: p.noise, TieBand: p.tie}
	m := belief.Model{Start: s.prior, Comparison: bands}
	if strength {
		m.Comparison = belief.Graded{Of: bands, Much: 2 * p.noise}
	}
	if remarks {
		m.Remark = belief.Probit{NoiseStd: p.noise}
	}
	return m
}

// answer returns an answer to q and how many seconds it takes. Ways have the random numbers
// of a question in common.
func (p *person) answer(q idrl.QueryVector, seed, n uint64) (a idrl.Answer, seconds float64) {
	r := rng.New(seed, "answer "+string(q.ID), n)
	if q.Kind.Group() {
		return p.pick(q, r), p.seconds
	}
	a = p.reply(q, r)
	z := floats.Dot(p.theta, q.Mid) + p.noise*r.NormFloat64()
	seconds = p.seconds
	if math.Abs(z) > p.remarks {
		a.Remark = idrl.BothGood
		if z < 0 {
			a.Remark = idrl.BothBad
		}
		seconds += p.remarking
	}
	return a, seconds
}

// reply returns a comparison, or a rating, without remarks. It takes one number from the stream.
func (p *person) reply(q idrl.QueryVector, r *rand.Rand) (a idrl.Answer) {
	if !q.Kind.Comparison() {
		return idrl.Answer{Choice: idrl.Rated, Rating: floats.Dot(p.theta, q.X) + p.noise/math.Sqrt2*r.NormFloat64()}
	}
	u := floats.Dot(p.theta, q.X) + p.noise*r.NormFloat64()
	switch {
	case math.Abs(u) <= p.tie:
		a.Choice = idrl.Equal
	case u > 0:
		a.Choice = idrl.ChoseA
	default:
		a.Choice = idrl.ChoseB
	}
	a.Much = math.Abs(u) > max(p.tie, p.much)
	return a
}

// pick names the best and the worst of a group. Each clip is seen with noise of its own, so
// that two compare as in answer, without ties.
func (p *person) pick(q idrl.QueryVector, r *rand.Rand) idrl.Answer {
	seen := make([]float64, len(q.Each))
	for i, phi := range q.Each {
		seen[i] = floats.Dot(p.theta, phi) + p.noise/math.Sqrt2*r.NormFloat64()
	}
	return idrl.Answer{Choice: idrl.BestWorst, Best: idrl.SideOf(floats.MaxIdx(seen)), Worst: idrl.SideOf(floats.MinIdx(seen))}
}

// A Sitting is what came of asking one person in one way.
type Sitting struct {
	Regret  []float64 // of the recommended policy before the first answer and after each
	Seconds []float64 // of each answer
}

// Area returns the mean regret over the first seconds, each answer taking stretch times
// as long as it does.
func (s Sitting) Area(seconds, stretch float64) float64 {
	area, at := 0.0, 0.0
	for i, r := range s.Regret {
		end := seconds
		if i < len(s.Seconds) {
			end = min(seconds, at+stretch*s.Seconds[i])
		}
		area += r * (end - at)
		at = end
	}
	return area / seconds
}

// AskingWorlds returns the names of the figures that AskAll can be about.
func AskingWorlds() []string {
	return []string{"driver", "gridworld", "chain"}
}

// FindWays returns the ways of those names, all of them without any. It returns an error of kind Invalid if there is
// none of a name.
func FindWays(names []string) (out []Way, err error) {
	all := Ways()
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(w Way) bool { return w.Name == name })
		if i < 0 {
			return nil, idrl.Errorf(idrl.Invalid, "there is no way of asking %q", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// A world is where people are asked: instances of a figure, under the schedule of a session.
type world struct {
	e     Experiment
	build maker
}

// newWorld returns the world of a name, in which people are right about a share of the pairs that the first
// generation asks about; 0: stats.UsualRight. It returns an error of kind Invalid for unknown worlds and shares that cannot be.
func newWorld(ctx context.Context, name string, right float64, workers int) (*world, error) {
	if !slices.Contains(AskingWorlds(), name) {
		return nil, idrl.Errorf(idrl.Invalid, "unknown world %q; known: %s", name, strings.Join(AskingWorlds(), ", "))
	}
	e, err := Config{Figure: name, Queries: Comparisons, Schedule: LiveSchedule, Methods: []string{idrl.DefaultAcquisition}, Right: right, Seeds: 1}.Validate()
	if err != nil {
		return nil, err
	}
	f, err := e.figure()
	if err != nil {
		return nil, err
	}
	build, err := f.build(ctx, e, Options{Workers: workers})
	return &world{e, build}, err
}

// ask lets one person answer one session in each of ways, for a number of seconds. The
// truth is the same in all ways, and the random numbers of a question are. Questions
// and trainings are those of sessions (LiveSchedule).
func (w *world) ask(ctx context.Context, ways []Way, seed uint64, seconds float64) ([]Sitting, error) {
	in, err := w.build(ctx, seed)
	if err != nil {
		return nil, err
	}
	out := make([]Sitting, len(ways))
	for i, way := range ways {
		if out[i], err = in.live.sit(ctx, w.e, way, seconds); err != nil {
			return nil, fmt.Errorf("%s, seed %d, %s: %w", w.e.Figure, seed, way.Name, err)
		}
	}
	return out, nil
}

// sit asks one person in one way for a number of seconds.
func (s *stage) sit(ctx context.Context, e Experiment, way Way, seconds float64) (out Sitting, err error) {
	copied := *s
	copied.every, copied.seen, copied.made = 1, way.seen, way.made
	copied.answers = func(first []idrl.QueryVector) (belief.Model, func(idrl.QueryVector, uint64) idrl.Answer, error) {
		people := way.people
		if people == nil {
			people = plain
		}
		model, p := people(&copied, personOf(s.theta, first, s.right).noise)
		return model, func(q idrl.QueryVector, n uint64) idrl.Answer {
			a, took := p.answer(q, s.seed, n)
			out.Seconds = append(out.Seconds, took)
			return a
		}, nil
	}
	l, err := copied.start(ctx, e.Method(e.Methods[0]))
	if err != nil {
		return out, err
	}
	defer l.session.Close()
	if err := l.measure(ctx, 0); err != nil {
		return out, err
	}
	for total := 0.0; total < seconds; total += out.Seconds[len(out.Seconds)-1] {
		if err := l.step(ctx); err != nil {
			return out, err
		}
		if len(l.given) < l.n { // all clips look alike: the session stands still
			break
		}
		if err := l.measure(ctx, 0); err != nil {
			return out, err
		}
	}
	if len(l.run.Regret) != len(out.Seconds)+1 {
		panic("experiment: answers and measurements differ in number")
	}
	out.Regret = l.run.Regret
	return out, nil
}

// Within returns how many answers were given within a number of seconds.
func (s Sitting) Within(seconds float64) (n int) {
	for at := 0.0; n < len(s.Seconds); n++ {
		if at += s.Seconds[n]; at > seconds {
			break
		}
	}
	return n
}
