package journaltest

import (
	"fmt"
	"maps"
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Withdraw does to a record what the withdrawal of the data of who does: their rows keep
// position and time, the beliefs from their first row on are gone, and a last row says so.
func Withdraw(r *record.Record, who idrl.AnnotatorID) {
	r.Log, r.Snapshots, r.Assignments = slices.Clone(r.Log), slices.Clone(r.Snapshots), slices.Clone(r.Assignments)
	gone := false
	for i, a := range r.Log {
		gone = gone || a.Annotator == who
		if gone {
			r.Snapshots[i].Belief, r.Snapshots[i].Definition = nil, 0
		}
		if a.Annotator == who {
			r.Log[i] = idrl.Answer{
				ID: idrl.AnswerID(fmt.Sprint("erased-", a.Seq)), Seq: a.Seq, Choice: idrl.Erased,
				ShownAt: a.ReceivedAt, AnsweredAt: a.ReceivedAt, ReceivedAt: a.ReceivedAt,
			}
			r.Snapshots[i].Regret = idrl.Regret{Seq: a.Seq}
		}
	}
	for i, as := range r.Assignments {
		if as.Annotator == who {
			r.Assignments[i].Annotator, r.Assignments[i].Answer, r.Assignments[i].Reopens = "", "erased", ""
		}
	}
	seq := int64(len(r.Log)) + 1
	r.Log = append(r.Log, idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("withdrew-", seq)), Seq: seq, Choice: idrl.Withdrew})
	r.Snapshots = append(r.Snapshots, record.Snapshot{Seq: seq, Regret: idrl.Regret{Seq: seq}})
	r.Settings.Withdrawals++
	r.Settings.Revoked = append(slices.Clone(r.Settings.Revoked), who)
	r.Settings.Turned = maps.Clone(r.Settings.Turned)
	delete(r.Settings.Turned, who)
	r.Settings.LeftOut = slices.DeleteFunc(slices.Clone(r.Settings.LeftOut), func(id idrl.AnnotatorID) bool { return id == who })
}
