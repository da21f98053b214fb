package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"tiebreak/internal/base/record"
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

	trainingTime = time.Second
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

// spec returns the settings of a session that the crowd answers. A generation comes into use when its
// training has ended; where that takes no time, one answer after another is asked for.
func (c crowd) spec(spec idrl.SessionSpec) idrl.SessionSpec {
	spec.Ahead, spec.AdoptAfter = c.ahead, 0
	if c.instant {
		spec.Budget = 1
	}
	return spec
}

// training returns how long a training takes.
func (c crowd) training() time.Duration {
	if c.instant {
		return 0
	}
	return trainingTime
}

// A crowdRun is a liveRun with a crowd, by the clock of the session.
type crowdRun struct {
	*liveRun
	c   crowd
	who []annotator
}

// An annotator answers the first of the questions that they hold.
type annotator struct {
	id     idrl.AnnotatorID
	at     float64 // time at which they have answered it, in seconds
	median float64 // of response times
	times  *rand.Rand
}

// takes adds the time that the next answer takes.
func (a *annotator) takes() { a.at += a.median * math.Exp(timeSpread*a.times.NormFloat64()) }

// together returns the run of a crowd, of whom each holds their first questions.
func (l *liveRun) together(ctx context.Context, c crowd) (*crowdRun, error) {
	r := &crowdRun{liveRun: l, c: c, who: make([]annotator, c.people)}
	for k := range r.who {
		a := &r.who[k]
		a.id, a.median, a.times = idrl.AnnotatorID(fmt.Sprint(somebody, k+1)), medianTimes[k%len(medianTimes)], rng.New(l.seed, "response time", uint64(k))
		a.takes()
		if _, err := l.session.Claim(ctx, a.id); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// step has the annotator answer who is first. Where nobody has anything to answer, because all clips
// look alike, an answer is counted that says nothing.
func (r *crowdRun) step(ctx context.Context) error {
	for range r.who {
		as, ok, err := r.next(ctx)
		if err != nil {
			return err
		}
		if ok {
			return r.give(ctx, as)
		}
	}
	r.n++
	return nil
}

// next moves the clock to the time at which the next annotator is done and returns the question that they
// have answered; ok is false if they held none.
func (r *crowdRun) next(ctx context.Context) (as record.Assignment, ok bool, err error) {
	a := &r.who[0]
	for k := range r.who {
		if r.who[k].at < a.at {
			a = &r.who[k]
		}
	}
	if err := r.session.Until(ctx, seconds(a.at)); err != nil {
		return as, false, err
	}
	a.takes()
	open, err := r.session.Claim(ctx, a.id)
	if err != nil || len(open) == 0 {
		return as, false, err
	}
	return open[0], true, nil
}

// give has an answer given, after which the next one may be asked for.
func (r *crowdRun) give(ctx context.Context, as record.Assignment) error {
	if err := r.take(ctx, as); err != nil || !r.c.instant {
		return err
	}
	if err := r.session.Until(ctx, r.session.Now()); err != nil {
		return err
	}
	return r.session.Want(ctx, r.n+1)
}

// seconds returns the duration of so many seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
