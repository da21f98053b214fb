package session

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// putOffFor: a question that waits is withdrawn once the annotator was given ahead + putOffFor later ones, because its value
// was computed long ago.
const putOffFor = 10

// assignments indexes the questions that were handed out.
type assignments struct {
	ahead int // questions of a person that wait at a time

	all  []*record.Assignment // by N, from 1
	byID map[idrl.AssignmentID]*record.Assignment
	of   map[idrl.AnnotatorID][]*record.Assignment // by N
	open []*record.Assignment                      // not answered, by N
	mine map[idrl.AnnotatorID][]*record.Assignment // not answered, by N
	held map[idrl.AnnotatorID]*held                // known of some

	times   map[idrl.QueryID]int // that each query was handed out
	heldOut map[idrl.QueryID]int // likewise, of those that are held out; none is 0

	duels []*record.Assignment // asked for a duel, by N

	reopens map[idrl.AnswerID]bool // withdrawn answers whose questions were handed out again
}

// newAssignments returns the index of as, which it takes over.
func newAssignments(as []record.Assignment, ahead int) *assignments {
	t := &assignments{
		ahead: ahead, all: make([]*record.Assignment, 0, len(as)), byID: make(map[idrl.AssignmentID]*record.Assignment, len(as)),
		of: map[idrl.AnnotatorID][]*record.Assignment{}, mine: map[idrl.AnnotatorID][]*record.Assignment{}, held: map[idrl.AnnotatorID]*held{}, times: make(map[idrl.QueryID]int, len(as)),
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
	delete(t.held, a.Annotator)
	t.all = append(t.all, a)
	t.byID[a.ID] = a
	t.of[a.Annotator] = append(t.of[a.Annotator], a)
	t.count(a, 1)
	if a.Why.Purpose == record.ForDuel {
		t.duels = append(t.duels, a)
	}
	if a.Reopens != "" {
		t.reopens[a.Reopens] = true
	}
	if a.Answer == "" {
		t.open = append(t.open, a)
		t.mine[a.Annotator] = append(t.mine[a.Annotator], a)
	}
}

func (t *assignments) close(id idrl.AssignmentID, by idrl.AnswerID) {
	a := t.byID[id]
	a.Answer = by
	delete(t.held, a.Annotator)
	is := func(b *record.Assignment) bool { return a == b }
	t.open = slices.DeleteFunc(t.open, is)
	t.mine[a.Annotator] = slices.DeleteFunc(t.mine[a.Annotator], is)
}

// drop undoes the last add, of an open assignment.
func (t *assignments) drop() {
	a := t.all[len(t.all)-1]
	t.all = t.all[:len(t.all)-1]
	delete(t.held, a.Annotator)
	delete(t.byID, a.ID)
	t.count(a, -1)
	if a.Why.Purpose == record.ForDuel {
		t.duels = t.duels[:len(t.duels)-1]
	}
	delete(t.reopens, a.Reopens)
	t.of[a.Annotator] = t.of[a.Annotator][:len(t.of[a.Annotator])-1]
	t.open = t.open[:len(t.open)-1]
	t.mine[a.Annotator] = t.mine[a.Annotator][:len(t.mine[a.Annotator])-1]
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
	delete(t.held, a.Annotator)
	t.open, t.mine[a.Annotator] = byN(t.open, a), byN(t.mine[a.Annotator], a)
}

// byN inserts a into a list by N.
func byN(list []*record.Assignment, a *record.Assignment) []*record.Assignment {
	i, _ := slices.BinarySearchFunc(list, a.N, func(b *record.Assignment, n int64) int { return cmp.Compare(b.N, n) })
	return slices.Insert(list, i, a)
}

// openOf returns the annotator's open assignments in the order to show them: questions reopened by
// an undo first, the newest first, then the others by N, each after those that are asked before it.
// The order is a function of what is recorded of the assignments, and so is which of them are withdrawn. It is valid
// until the next change of an assignment of the annotator.
func (t *assignments) openOf(who idrl.AnnotatorID) []*record.Assignment { return t.heldBy(who).open }

// held has the open assignments of a person.
type held struct {
	open []*record.Assignment // in the order of openOf
	firm int                  // the first so many of these will be asked next
}

// heldBy returns what the annotator holds, kept until one of their assignments changes.
func (t *assignments) heldBy(who idrl.AnnotatorID) *held {
	h, known := t.held[who]
	if known {
		return h
	}
	h = &held{}
	for _, a := range t.mine[who] {
		if !t.withdrawn(a, 0) {
			h.open = append(h.open, a)
		}
	}
	slices.SortFunc(h.open, t.inOrder)
	h.firm = len(h.open)
	for i, a := range h.open {
		if i > 0 && a.Before != "" { // the first one is on the screen: what it was put before is next
			h.firm = i + 1
			break
		}
	}
	t.held[who] = h
	return h
}

// inOrder compares two open assignments of one person by the order to show them.
func (t *assignments) inOrder(a, b *record.Assignment) int {
	switch {
	case a.Reopens != "" && b.Reopens != "":
		return cmp.Compare(b.N, a.N)
	case a.Reopens != "":
		return -1
	case b.Reopens != "":
		return 1
	case a.Before == "" && b.Before == "":
		return cmp.Compare(a.N, b.N)
	}
	return t.path(a).compare(t.path(b))
}

// A placeOf is the numbers of a chain of assignments, each of which is asked before the one in front of it.
type placeOf []int64

// compare compares the places of two assignments: what is asked before another comes first.
func (p placeOf) compare(q placeOf) int {
	for i := range min(len(p), len(q)) {
		if c := cmp.Compare(p[i], q[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(q), len(p))
}

// path returns the place of a, which ends with its own number.
func (t *assignments) path(a *record.Assignment) (out placeOf) {
	for ; a != nil; a = t.byID[a.Before] {
		out = append(out, a.N)
	}
	slices.Reverse(out)
	return out
}

// withdrawn reports whether an open assignment was put off for so long that it is not shown any more, once the
// annotator is given so many (more) further ones. An answer to it still counts: the annotator may have it while without a network.
func (t *assignments) withdrawn(a *record.Assignment, more int) bool {
	own := t.of[a.Annotator]
	last := len(own) + more - 1 - t.ahead - putOffFor // of those that are old enough
	return a.Reopens == "" && last >= 0 && a.N <= own[min(last, len(own)-1)].N
}

// putOff reports whether an open assignment may never be asked: it is withdrawn, or it is not on the screen and another one was
// put before it or before one that precedes it.
func (t *assignments) putOff(a *record.Assignment) bool {
	h := t.heldBy(a.Annotator)
	return !slices.Contains(h.open[:h.firm], a)
}

// expire ends in memory the leases of annotators who are revoked. A session that is loaded does the same.
func (t *assignments) expire(revoked map[idrl.AnnotatorID]bool, now time.Time) {
	for _, as := range t.open {
		if revoked[as.Annotator] && as.LeaseUntil.After(now) {
			as.LeaseUntil = now
		}
	}
}

// live returns the assignments under a live lease that are not withdrawn, by N.
func (t *assignments) live(now time.Time) iter.Seq[*record.Assignment] {
	return func(yield func(*record.Assignment) bool) {
		for _, a := range t.open {
			if a.LeaseUntil.After(now) && !t.withdrawn(a, 0) && !yield(a) {
				return
			}
		}
	}
}
