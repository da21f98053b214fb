package bradley

import (
	"slices"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// Outcomes returns the answers of an arena that count, as they do, by their place in the log: those
// that are not withdrawn, of people who are not left out; of several answers of one person to one
// question only the first. It returns an error of kind Damaged if the record does not say which
// entrants an answer is about.
func Outcomes(r record.Record) ([]Outcome, error) {
	asked := make(map[idrl.AssignmentID]idrl.Query, len(r.Assignments))
	for _, as := range r.Assignments {
		asked[as.ID] = as.Query
	}
	type judged struct {
		who   idrl.AnnotatorID
		query idrl.QueryID
	}
	seen := map[judged]bool{}
	var out []Outcome
	for _, a := range record.Standing(r.Log) {
		if slices.Contains(r.Settings.LeftOut, a.Annotator) { // where a server runs, the log follows the settings
			continue
		}
		a = record.Counting{Turned: r.Settings.Turned[a.Annotator]}.Of(a)
		q := asked[a.Assignment]
		key := judged{a.Annotator, q.ID}
		if !a.Informative() || seen[key] {
			continue
		}
		seen[key] = true
		o := Outcome{Seq: a.Seq, Choice: a.Choice, Person: a.Annotator}
		places := []*int{&o.A, &o.B}
		if len(q.Clips) != len(places) {
			return nil, idrl.Errorf(idrl.Damaged, "answer %d is about no comparison", a.Seq)
		}
		for i, id := range q.Clips {
			k, ok := r.Spec.Arena.EntrantOf(r.Clips[id].From)
			if !ok {
				return nil, idrl.Errorf(idrl.Damaged, "answer %d is about clip %s, which shows no entrant", a.Seq, id)
			}
			*places[i] = k
			if m, ok := r.Spec.Arena.MeetingOf(r.Clips[id].From); ok {
				o.Task = m.Task
			}
		}
		out = append(out, o)
	}
	return out, nil
}
