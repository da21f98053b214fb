package session

import (
	"slices"

	"tiebreak/internal/idrl"
)

// answerLog is the log of a session with the indexes that answering needs.
type answerLog struct {
	rows      []idrl.Answer // by Seq, from 1
	byID      map[idrl.AnswerID]int
	undone    map[idrl.AnswerID]bool
	predicted map[idrl.AnswerID]bool // whether the belief before a decisive comparison foretold it
	effective int                    // answers not withdrawn
	unclear   map[idrl.QueryID]int   // replies of can't tell or skip, not withdrawn
	broken    map[idrl.QueryID]int   // reports of a clip that does not play, not withdrawn
	mine      map[idrl.AnnotatorID]int
	of        map[idrl.AnnotatorID][]int // indexes in rows
}

func newAnswerLog() *answerLog {
	return &answerLog{
		byID: map[idrl.AnswerID]int{}, undone: map[idrl.AnswerID]bool{},
		unclear: map[idrl.QueryID]int{}, broken: map[idrl.QueryID]int{},
		predicted: map[idrl.AnswerID]bool{}, mine: map[idrl.AnnotatorID]int{}, of: map[idrl.AnnotatorID][]int{},
	}
}

// seq returns the position of the last row.
func (l *answerLog) seq() int64 { return int64(len(l.rows)) }

// at returns row seq, which must exist.
func (l *answerLog) at(seq int64) idrl.Answer { return l.rows[seq-1] }

func (l *answerLog) add(a idrl.Answer) {
	l.byID[a.ID] = len(l.rows)
	l.of[a.Annotator] = append(l.of[a.Annotator], len(l.rows))
	l.rows = append(l.rows, a)
	if a.Undoes != "" {
		l.undone[a.Undoes] = true
	}
	l.count(a, 1)
}

// drop undoes the last add.
func (l *answerLog) drop() {
	a := l.rows[len(l.rows)-1]
	l.count(a, -1)
	delete(l.undone, a.Undoes)
	l.rows = l.rows[:len(l.rows)-1]
	l.of[a.Annotator] = l.of[a.Annotator][:len(l.of[a.Annotator])-1]
	delete(l.byID, a.ID)
}

// count adds step times what row a adds to the counts.
func (l *answerLog) count(a idrl.Answer, step int) {
	if a.Undoes != "" {
		step, a = -step, *l.find(a.Undoes)
	}
	l.effective += step
	l.mine[a.Annotator] += step
	switch {
	case a.Choice == idrl.CantTell, a.Choice == idrl.Skip && a.Reason != "broken":
		l.unclear[a.Query] += step
	case a.Choice == idrl.TechnicalFailure, a.Choice == idrl.Skip:
		l.broken[a.Query] += step
	}
}

// find returns the row with that id, or nil.
func (l *answerLog) find(id idrl.AnswerID) *idrl.Answer {
	if i, ok := l.byID[id]; ok {
		return &l.rows[i]
	}
	return nil
}

// undoable is how many of their last answers an annotator can take back.
const undoable = 10

// lastOf returns the annotator's answers that can be undone, newest first.
func (l *answerLog) lastOf(who idrl.AnnotatorID) (ids []idrl.AnswerID) {
	for _, i := range slices.Backward(l.of[who]) {
		if a := l.rows[i]; a.Undoes == "" && !l.undone[a.ID] {
			if ids = append(ids, a.ID); len(ids) == undoable {
				break
			}
		}
	}
	return ids
}

// withdrawals returns the rows by which the annotator withdrew answers.
func (l *answerLog) withdrawals(who idrl.AnnotatorID) (rows []idrl.Answer) {
	for _, i := range l.of[who] {
		if l.rows[i].Undoes != "" {
			rows = append(rows, l.rows[i])
		}
	}
	return rows
}

// same reports whether two submissions with one id say the same.
func same(a, b idrl.Answer) bool {
	return a.Annotator == b.Annotator && a.Assignment == b.Assignment && a.Undoes == b.Undoes &&
		a.Choice == b.Choice && a.Rating == b.Rating && a.Reason == b.Reason && a.Left == b.Left
}
