package session

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// assignments indexes the questions that were handed out.
type assignments struct {
	all  []*record.Assignment // by N, from 1
	byID map[idrl.AssignmentID]*record.Assignment
	of   map[idrl.AnnotatorID][]*record.Assignment // by N
	open []*record.Assignment                      // not answered, by N

	times   map[idrl.QueryID]int // that each query was handed out
	heldOut map[idrl.QueryID]int // likewise, of those that are held out; none is 0

	reopens map[idrl.AnswerID]bool // withdrawn answers whose questions were handed out again
}

// newAssignments returns the index of as, which it takes over.
func newAssignments(as []record.Assignment) *assignments {
	t := &assignments{
		all: make([]*record.Assignment, 0, len(as)), byID: make(map[idrl.AssignmentID]*record.Assignment, len(as)),
		of: map[idrl.AnnotatorID][]*record.Assignment{}, times: make(map[idrl.QueryID]int, len(as)),
		heldOut: map[idrl.QueryID]int{}, reopens: map[idrl.AnswerID]bool{},
	}
	for i := range as {
		t.take(&as[i])
	}
	return t
}

func (t *assignments) get(id idrl.AssignmentID) *record.Assignment { return t.byID[id] }

// nextN returns the number of the next assignment.
func (t *assignments) nextN() int64 { return int64(len(t.all)) + 1 }

func (t *assignments) add(a record.Assignment) { t.take(&a) }

// take is add without a copy: a is the index's from now on.
func (t *assignments) take(a *record.Assignment) {
	t.all = append(t.all, a)
	t.byID[a.ID] = a
	t.of[a.Annotator] = append(t.of[a.Annotator], a)
	t.count(a, 1)
	if a.Reopens != "" {
		t.reopens[a.Reopens] = true
	}
	if a.Answer == "" {
		t.open = append(t.open, a)
	}
}

func (t *assignments) close(id idrl.AssignmentID, by idrl.AnswerID) {
	t.byID[id].Answer = by
	t.open = slices.DeleteFunc(t.open, func(a *record.Assignment) bool { return a.ID == id })
}

// drop undoes the last add, of an open assignment.
func (t *assignments) drop() {
	a := t.all[len(t.all)-1]
	t.all = t.all[:len(t.all)-1]
	delete(t.byID, a.ID)
	t.count(a, -1)
	delete(t.reopens, a.Reopens)
	t.of[a.Annotator] = t.of[a.Annotator][:len(t.of[a.Annotator])-1]
	t.open = t.open[:len(t.open)-1]
}

// count adds step to how often the query of a was handed out.
func (t *assignments) count(a *record.Assignment, step int) {
	t.times[a.Query.ID] += step
	if a.Condition != record.HeldOut {
		return
	}
	if t.heldOut[a.Query.ID] += step; t.heldOut[a.Query.ID] == 0 {
		delete(t.heldOut, a.Query.ID)
	}
}

// reopen undoes close.
func (t *assignments) reopen(id idrl.AssignmentID) {
	a := t.byID[id]
	a.Answer = ""
	i, _ := slices.BinarySearchFunc(t.open, a.N, func(b *record.Assignment, n int64) int { return cmp.Compare(b.N, n) })
	t.open = slices.Insert(t.open, i, a)
}

// openOf returns the annotator's open assignments in the order to show them:
// questions reopened by an undo first, the newest first, then by N.
func (t *assignments) openOf(who idrl.AnnotatorID) (out []*record.Assignment) {
	for _, a := range t.open {
		switch {
		case a.Annotator != who:
		case a.Reopens != "":
			out = slices.Insert(out, 0, a)
		default:
			out = append(out, a)
		}
	}
	return out
}

// expire ends the leases of those who are revoked, in memory: whoever loads the session does the same.
func (t *assignments) expire(revoked map[idrl.AnnotatorID]bool, now time.Time) {
	for _, as := range t.open {
		if revoked[as.Annotator] && as.LeaseUntil.After(now) {
			as.LeaseUntil = now
		}
	}
}

// live returns the assignments under a live lease, by N.
func (t *assignments) live(now time.Time) iter.Seq[*record.Assignment] {
	return func(yield func(*record.Assignment) bool) {
		for _, a := range t.open {
			if a.LeaseUntil.After(now) && !yield(a) {
				return
			}
		}
	}
}
