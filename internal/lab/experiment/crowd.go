package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

// A crowd is people who annotate a session at the same time, at speeds of their own.
type crowd struct {
	people  int
	ahead   int  // queries that each of them holds
	apart   bool // a query is chosen as if no other were open; only that it is not one of those
	instant bool // a training takes no time
}

const (
	// idealCrowd is one annotator who is asked one query at a time, for which candidates
	// are trained after every answer.
	idealCrowd = "ideal"
	apartCrowd = "-apart"

	// crowdMethod is the method whose crowds are compared: the default of sessions.
	crowdMethod = "lvar"

	trainingTime = 1.0 // seconds that a training takes
	timeSpread   = 0.5 // standard deviation of the logarithm of response times
)

// medianTimes are the medians of the response times of people, in seconds, by turns.
var medianTimes = [...]float64{3, 2, 4.5, 6}

// crowdSizes are the numbers of annotators that are compared.
var crowdSizes = [...]int{1, 2, 4, 8, 16}

// crowds returns the crowds that are compared, by the names of variants: "8" is eight
// people as sessions treat them, "8-apart" the same without regard to what is open.
func crowds(ahead int) map[string]crowd {
	out := map[string]crowd{idealCrowd: {people: 1, ahead: 1, instant: true}}
	for _, n := range crowdSizes {
		out[strconv.Itoa(n)] = crowd{people: n, ahead: ahead}
		out[strconv.Itoa(n)+apartCrowd] = crowd{people: n, ahead: ahead, apart: true}
	}
	return out
}

// crowdNames returns the names of crowds, those of sessions first.
func crowdNames() []string {
	out := []string{idealCrowd}
	for _, apart := range []string{"", apartCrowd} {
		for _, n := range crowdSizes {
			out = append(out, strconv.Itoa(n)+apart)
		}
	}
	return out
}

// crowdRows returns the rows of an experiment that compares crowds.
func crowdRows() (out []string) {
	for _, name := range crowdNames() {
		out = append(out, crowdMethod+":"+name)
	}
	return out
}

// withCrowds makes the crowds variants of an instance that follows the schedule of a
// session.
func (w *instance) withCrowds() {
	w.variants = map[string]func(*instance){}
	for name, c := range crowds(w.live.schedule.Ahead) {
		w.variants[name] = func(w *instance) {
			s := *w.live
			s.crowd = &c
			w.live = &s
		}
	}
}

// A crowdRun is a liveRun with a crowd, by a clock of its own.
type crowdRun struct {
	*liveRun
	c     crowd
	who   []annotator
	under *point  // that a training under way began from; nil: none is
	ready float64 // time at which it is done, in seconds
}

// An annotator answers the first of the queries that they hold.
type annotator struct {
	held   []idrl.QueryVector
	at     float64 // time at which they have answered it, in seconds
	median float64 // of response times
	times  *rand.Rand
}

// takes adds the time that the next answer takes.
func (a *annotator) takes() { a.at += a.median * math.Exp(timeSpread*a.times.NormFloat64()) }

// learnTogether takes in answers of a crowd, until there are so many.
func (l *liveRun) learnTogether(ctx context.Context, c crowd, answers int) error {
	r, err := l.crowd(c)
	for err == nil && l.n < int64(answers) {
		if err = r.step(ctx); err != nil {
			return fmt.Errorf("answer %d: %w", l.n+1, err)
		}
		l.measure(answers)
	}
	return err
}

// crowd gives a crowd its first queries, by turns.
func (l *liveRun) crowd(c crowd) (*crowdRun, error) {
	r := &crowdRun{liveRun: l, c: c, who: make([]annotator, c.people)}
	for k := range r.who {
		a := &r.who[k]
		a.median, a.times = medianTimes[k%len(medianTimes)], rng.New(l.seed, "response time", uint64(k))
		a.takes()
	}
	for range c.ahead {
		for k := range r.who {
			if err := r.give(k); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// step takes in the answer of whoever is first, and gives them another query.
func (r *crowdRun) step(ctx context.Context) error {
	k := 0
	for i := range r.who {
		if a := &r.who[i]; len(a.held) > 0 && (len(r.who[k].held) == 0 || a.at < r.who[k].at) {
			k = i
		}
	}
	a := &r.who[k]
	if len(a.held) == 0 { // nobody has anything to answer, because all clips look alike
		r.n++
		return nil
	}
	now, q := a.at, a.held[0]
	if err := r.trained(ctx, now); err != nil {
		return err
	}
	a.held = a.held[1:]
	a.takes()
	r.open = slices.DeleteFunc(r.open, func(o idrl.QueryVector) bool { return o.ID == q.ID })
	if err := r.take(ctx, q); err != nil {
		return err
	}
	if r.under == nil {
		r.under, r.ready = &point{n: r.n, p: r.history.Posterior()}, now+trainingTime
		if r.c.instant {
			r.ready = now
		}
	}
	if err := r.trained(ctx, now); err != nil {
		return err
	}
	return r.give(k)
}

// trained brings the generation into use that is trained, if it is ready by a time.
func (r *crowdRun) trained(ctx context.Context, now float64) error {
	if r.under == nil || r.ready > now {
		return nil
	}
	p := *r.under
	r.under = nil
	return r.train(ctx, p)
}

// give gives annotator k another query, if there is one.
func (r *crowdRun) give(k int) error {
	pending := r.open
	if r.c.apart {
		pending = nil
	}
	q, ok, err := r.choose(pending)
	if ok {
		r.open, r.who[k].held = append(slices.Clip(r.open), q), append(r.who[k].held, q)
	}
	return err
}
