package session

import (
	"cmp"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/insight"
)

// answerLog is the log of a session with the indexes that answering needs.
type answerLog struct {
	rows      []idrl.Answer // by Seq, from 1
	byID      map[idrl.AnswerID]int
	undone    map[idrl.AnswerID]bool
	predicted []quality.Hit      // whether the posterior before an answer that prefers a clip predicted it, by Seq
	outcomes  []insight.Forecast // of comparisons, from before the answer, by Seq; see learntFeatures.foretell
	all       tally              // of all annotators who are not left out
	mine      map[idrl.AnnotatorID]tally
	unclear   map[idrl.QueryID]int                 // replies of can't tell or skip that count
	broken    map[idrl.QueryID]int                 // reports of a clip that does not play that count
	how       map[idrl.AnnotatorID]record.Counting // how replies count
	of        map[idrl.AnnotatorID][]int           // indexes in rows
	edits     []int                                // indexes of the rows that are no replies
	stale     []rowRange                           // what the edits have changed
	erased    int64                                // first row that a withdrawal of data has emptied; 0 if there is none
	withdrew  int                                  // withdrawals of data
}

// A rowRange is the log rows from first to before end.
type rowRange struct{ first, end int64 }

// tally counts replies that are not withdrawn.
type tally struct {
	answers int // informative
	skipped int // others
}

// newAnswerLog returns the log of rows, whose memory it takes over.
func newAnswerLog(rows []idrl.Answer) *answerLog {
	l := &answerLog{
		rows: rows[:0], byID: make(map[idrl.AnswerID]int, len(rows)), undone: map[idrl.AnswerID]bool{},
		unclear: map[idrl.QueryID]int{}, broken: map[idrl.QueryID]int{},
		mine: map[idrl.AnnotatorID]tally{},
		how:  map[idrl.AnnotatorID]record.Counting{}, of: map[idrl.AnnotatorID][]int{},
	}
	for _, a := range rows {
		l.add(a)
	}
	return l
}

// expect makes room for what is noted of n rows.
func (l *answerLog) expect(n int) {
	l.outcomes, l.predicted = make([]insight.Forecast, 0, n), make([]quality.Hit, 0, n)
}

// seq returns the position of the last row.
func (l *answerLog) seq() int64 { return int64(len(l.rows)) }

// at returns row seq, which must exist.
func (l *answerLog) at(seq int64) idrl.Answer { return l.rows[seq-1] }

func (l *answerLog) add(a idrl.Answer) {
	l.byID[a.ID] = len(l.rows)
	l.of[a.Annotator] = append(l.of[a.Annotator], len(l.rows))
	if a.Choice == idrl.Erased {
		l.erased = cmp.Or(l.erased, a.Seq)
		l.rows = append(l.rows, a)
		return
	}
	if a.Choice == idrl.Withdrew {
		l.withdrew++
	}
	if !a.Reply() {
		l.edits = append(l.edits, len(l.rows))
	}
	l.rows = append(l.rows, a)
	if a.Undoes != "" {
		l.undone[a.Undoes] = true
	}
	l.count(a, 1)
	if !a.Reply() {
		l.stale = l.changed()
	}
}

// drop undoes the last add.
func (l *answerLog) drop() {
	a := l.rows[len(l.rows)-1]
	l.rows = l.rows[:len(l.rows)-1]
	l.of[a.Annotator] = l.of[a.Annotator][:len(l.of[a.Annotator])-1]
	l.count(a, -1)
	if !a.Reply() {
		l.edits = l.edits[:len(l.edits)-1]
		l.stale = l.changed()
	}
	delete(l.undone, a.Undoes)
	delete(l.byID, a.ID)
}

// count adds step times what row a adds to the counts.
func (l *answerLog) count(a idrl.Answer, step int) {
	switch {
	case a.Undoes != "":
		l.weigh(*l.find(a.Undoes), -step)
	case a.Decision():
		l.decide(a.Annotator)
	case a.Erasure():
	default:
		l.weigh(a, step)
	}
}

// weigh adds step times a reply to the counts.
func (l *answerLog) weigh(a idrl.Answer, step int) {
	mine := l.mine[a.Annotator]
	mine.add(a, step)
	l.mine[a.Annotator] = mine
	if !l.how[a.Annotator].Out {
		l.share(a, step)
	}
}

// share adds step times a reply to the counts of those who are not left out.
func (l *answerLog) share(a idrl.Answer, step int) {
	l.all.add(a, step)
	switch {
	case a.Choice == idrl.CantTell, a.Choice == idrl.Skip && a.Reason != "broken":
		l.unclear[a.Query] += step
	case a.Choice == idrl.TechnicalFailure, a.Choice == idrl.Skip:
		l.broken[a.Query] += step
	}
}

func (t *tally) add(a idrl.Answer, step int) {
	if a.Informative() {
		t.answers += step
	} else {
		t.skipped += step
	}
}

// decide makes the annotator's replies count as the last decision among their rows says.
func (l *answerLog) decide(who idrl.AnnotatorID) {
	var how record.Counting
	for _, i := range slices.Backward(l.of[who]) {
		if l.rows[i].Decision() {
			how = record.CountingOf(&l.rows[i])
			break
		}
	}
	same := how.Out == l.how[who].Out
	l.how[who] = how
	if same {
		return
	}
	step := map[bool]int{true: -1, false: 1}[how.Out]
	for _, i := range l.of[who] {
		if a := l.rows[i]; a.Reply() && !l.undone[a.ID] {
			l.share(a, step)
		}
	}
}

// counts reports whether row seq is an informative answer that counts.
func (l *answerLog) counts(seq int64) bool {
	a := &l.rows[seq-1]
	return a.Informative() && !l.undone[a.ID] && !l.how[a.Annotator].Out
}

// counted returns a reply as it counts, if it does.
func (l *answerLog) counted(a idrl.Answer) idrl.Answer { return l.how[a.Annotator].Of(a) }

// intact reports whether the answers up to row seq count now as they did after that row. If so, what was recorded
// with the row is still true.
func (l *answerLog) intact(seq int64) bool {
	return !slices.ContainsFunc(l.stale, func(r rowRange) bool { return r.first <= seq && seq < r.end })
}

// changed returns the ranges of rows after which other answers counted than count now:
//   - from a withdrawn answer to its withdrawal;
//   - from a decision about an annotator's replies, or from their first reply, to the next decision, if they
//     counted in another way than now;
//   - from the first row that is empty to the withdrawal of data that emptied it.
func (l *answerLog) changed() (out []rowRange) {
	decided := map[idrl.AnnotatorID]idrl.Answer{} // the decision before
	for _, i := range l.edits {
		a := l.rows[i]
		switch {
		case a.Undoes != "":
			out = append(out, rowRange{l.find(a.Undoes).Seq, a.Seq})
		case a.Choice == idrl.Withdrew:
			if l.erased > 0 && l.erased < a.Seq {
				out = append(out, rowRange{l.erased, a.Seq})
			}
		default:
			before, ok := decided[a.Annotator]
			if !ok {
				before = idrl.Answer{Seq: l.rows[l.of[a.Annotator][0]].Seq, Choice: idrl.TakenIn}
			}
			if record.CountingOf(&before) != l.how[a.Annotator] {
				out = append(out, rowRange{before.Seq, a.Seq})
			}
			decided[a.Annotator] = a
		}
	}
	return out
}

// decidedSince reports whether a row after seq decided how replies count, or a
// person's data were withdrawn since.
func (l *answerLog) decidedSince(seq int64) bool {
	for _, i := range slices.Backward(l.edits) {
		switch a := &l.rows[i]; {
		case a.Seq <= seq:
			return false
		case a.Decision(), a.Choice == idrl.Withdrew:
			return true
		}
	}
	return false
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
		if a := l.rows[i]; a.Reply() && !l.undone[a.ID] {
			if ids = append(ids, a.ID); len(ids) == undoable {
				break
			}
		}
	}
	return ids
}

// withdrawals returns the rows by which the annotator withdrew answers.
func (l *answerLog) withdrawals(who idrl.AnnotatorID) (rows []idrl.Answer) {
	for _, i := range l.edits {
		if l.rows[i].Undoes != "" && l.rows[i].Annotator == who {
			rows = append(rows, l.rows[i])
		}
	}
	return rows
}

// same reports whether two submissions with one id say the same.
func same(a, b idrl.Answer) bool {
	return a.Annotator == b.Annotator && a.Assignment == b.Assignment && a.Undoes == b.Undoes &&
		a.Choice == b.Choice && a.Rating == b.Rating && a.Reason == b.Reason && a.Left == b.Left &&
		a.Much == b.Much && a.Remark == b.Remark && a.WrongMS == b.WrongMS &&
		a.Best == b.Best && a.Worst == b.Worst && a.Order == b.Order
}
