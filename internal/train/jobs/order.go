package jobs

import (
	"cmp"
	"slices"
	"time"

	"tiebreak/internal/base/record"
)

// Jobs are served in the order of their response ratios (highest response ratio next, Brinch
// Hansen 1971). A job that has waited for a time w and still needs the processor for l has
//
//	(w + l) / l
//
// so that of two that have waited equally long the shorter one goes first, and each is the
// first of all some day.
const (
	// shortWork is the processor time up to which a job is short: it does not wait for long
	// ones, and is done at normal priority.
	shortWork = 5 * time.Second

	// unknownWork is the processor time that is assumed for a job of a kind that has not been measured.
	unknownWork = 30 * time.Second

	// leastWork keeps ratios finite.
	leastWork = 10 * time.Millisecond

	// worthPause is how many times as much as the shorter one a job must still need, for it
	// to be paused.
	worthPause = 2
)

// A class of jobs goes before the next one, also where its ratio is lower.
type class int

const (
	urgentJobs class = iota // labelling cannot begin before they are done
	awaitedJobs
	yieldingJobs // no answers wait for them (Job.Yields)
)

// A standing holds the properties of a job by which jobs are ordered.
type standing struct {
	class  class
	waited time.Duration // without a worker, or paused
	left   time.Duration // processor time that it still needs, as expected
	place  int64         // in the order of arrival
}

// ratio returns the response ratio.
func (s standing) ratio() float64 {
	left := max(s.left, leastWork)
	return float64(s.waited+left) / float64(left)
}

// compare is negative if s goes before o.
func (s standing) compare(o standing) int {
	return cmp.Or(cmp.Compare(s.class, o.class), cmp.Compare(o.ratio(), s.ratio()), cmp.Compare(s.place, o.place))
}

// overtakes reports whether a running job is to be paused for s, which waits: not if that has
// been held up for long already, as its ratio says.
func (s standing) overtakes(running standing) bool {
	return s.class <= running.class && worthPause*s.left <= running.left && running.ratio() <= s.ratio()+1
}

// A length is how long jobs that are alike took.
type length struct {
	took time.Duration // from the moment when a worker was given, without pauses
	work time.Duration // of the processor
}

// with returns the length that is expected after a job that was as long as o. The last jobs
// count most, for the load changes.
func (l length) with(o length) length {
	if l == (length{}) {
		return o
	}
	return length{(2*l.took + o.took) / 3, (2*l.work + o.work) / 3}
}

// standing returns that of t. The caller holds mu.
func (p *Pool) standing(t *ticket, now time.Time) standing {
	s := standing{class: awaitedJobs, waited: t.waited, left: p.left(t), place: t.place}
	if !t.resting.IsZero() {
		s.waited += now.Sub(t.resting)
	}
	if t.urgent() {
		s.class = urgentJobs
	} else if t.job.Yields {
		s.class = yieldingJobs
	}
	return s
}

// inOrder returns tickets in the order in which they are to be served. The caller holds mu.
func (p *Pool) inOrder(tickets []*ticket, now time.Time) []*ticket {
	out := slices.Clone(tickets)
	slices.SortFunc(out, func(a, b *ticket) int { return p.standing(a, now).compare(p.standing(b, now)) })
	return out
}

// work returns the processor time that t needs in all, as is expected. The caller holds mu.
func (p *Pool) work(t *ticket) time.Duration {
	return cmp.Or(p.typical[t.like()].work, t.job.Work, unknownWork)
}

// left returns the processor time that t still needs. One that needs more than others did is
// taken to need a quarter more than it has had. The caller holds mu.
func (p *Pool) left(t *ticket) time.Duration { return max(p.work(t)-t.used, t.used/4) }

// short reports whether t does not wait for long jobs. The caller holds mu.
func (p *Pool) short(t *ticket) bool { return !t.urgent() && !t.job.Yields && brief(p, t) }

// brief reports whether t is expected to end soon. The caller holds p.mu.
func brief(p *Pool, t *ticket) bool { return max(p.work(t), t.used) <= shortWork }

// full reports whether this machine does as many jobs of the sort of t as it may: long ones, or urgent ones that end soon. These
// are half as many as there are workers, since they have the priority of the server: a row of them takes processors
// away from the messages of annotators, and not for long from the next session. The caller holds p.mu.
func full(p *Pool, t *ticket) bool {
	switch {
	case t.urgent():
		return brief(p, t) && briefUrgent(p) >= max(1, p.c.Workers/2)
	case p.short(t):
		return false
	}
	return len(p.long()) >= p.c.Workers
}

// briefUrgent returns how many urgent jobs that are expected to end soon run on this machine. The caller holds p.mu.
func briefUrgent(p *Pool) (n int) {
	for _, w := range p.workers {
		if t := w.now; t != nil && w.place == nil && t.urgent() && brief(p, t) {
			n++
		}
	}
	return n
}

// A level is the priority of a process towards others on this machine. A process can only be
// lowered.
type level int

const (
	normal level = iota
	nice         // gets a third of the time of one at normal priority where both want the processor
	idling       // runs only where no other process wants to
)

// level returns that at which t is done. The caller holds mu.
func (p *Pool) level(t *ticket) level {
	switch {
	case t.job.Yields:
		return idling
	case t.urgent(), t.job.Soon, p.short(t):
		return normal
	default:
		return nice
	}
}

// like names the jobs that take about as long.
func (t *ticket) like() string {
	switch {
	case t.job.Priority == record.Urgent:
		return "urgent " + t.job.Like
	case t.job.Yields:
		return "yielding " + t.job.Like
	default:
		return "background " + t.job.Like
	}
}
