package session

import "time"

// A pace tells how long a job still takes, by how fast it went so far. The zero value has
// seen nothing.
type pace struct {
	begun, last time.Time // of the first and the newest report
	first, done int       // of these
	total       int
}

// A rate is trusted after leastTime and, where a job has many parts, a share of them.
const (
	leastTime = 2 * time.Second
	leastPart = 50 // 1/50 of the whole
)

// note takes in a report of progress that came now. A job that was begun anew, or whose
// whole is another, is measured anew.
func (p *pace) note(now time.Time, done, total int) {
	if p.begun.IsZero() || total != p.total || done < p.done {
		*p = pace{begun: now, last: now, first: done, done: done, total: total}
		return
	}
	if done > p.done {
		p.last, p.done = now, done
	}
}

// left returns how long the job still takes from now on, 0 if that is not known yet. The
// part under way is taken to need what the others took, or, once it took longer, a quarter
// more than it has had.
func (p *pace) left(now time.Time) time.Duration {
	made, took := p.done-p.first, p.last.Sub(p.begun)
	if took < leastTime || made*leastPart < p.total || p.done >= p.total {
		return 0
	}
	each := took / time.Duration(made)
	had := now.Sub(p.last)
	return max(each-had, had/4) + time.Duration(p.total-p.done-1)*each
}
