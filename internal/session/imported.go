package session

import (
	"context"
	"fmt"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A Comparison is one that was made elsewhere.
type Comparison struct {
	ID     idrl.AnswerID // of the answer; unique
	Query  idrl.Query    // of two clips that are in the journal
	Choice idrl.Choice   // ChoseA, ChoseB or Equal
}

// importedAtOnce is how many answers TakeIn records at once.
const importedAtOnce = 256

// TakeIn records comparisons that were made elsewhere as answers of who, in their order, as if
// they had been asked and answered now: each is followed by its belief, and by what stopping
// would cost where the session states that. It is for a session that does not run yet, and
// leaves a part recorded if it fails. progress, which may be nil, is told how many are done.
func (s *Session) TakeIn(ctx context.Context, who idrl.AnnotatorID, list []Comparison, progress func(done int)) error {
	if s.spec.AdoptAfter > 0 {
		return idrl.Errorf(idrl.Invalid, "a session that adopts each generation after a fixed number of answers cannot import answers")
	}
	var asked []record.Assignment
	var rows []record.Row
	for i, c := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		as, row, err := s.takeIn(who, c)
		if err != nil {
			return fmt.Errorf("take in answer %s: %w", c.ID, err)
		}
		if asked, rows = append(asked, as), append(rows, row); len(rows) < importedAtOnce && i+1 < len(list) {
			continue
		}
		if err := s.cfg.Journal.Issue(ctx, s.spec.ID, asked); err != nil {
			return fmt.Errorf("issue %d questions: %w", len(asked), err)
		}
		if err := s.append(ctx, rows); err != nil {
			return err
		}
		if asked, rows = nil, nil; progress != nil {
			progress(i + 1)
		}
	}
	return nil
}

// takeIn changes the memory as if c had been asked and answered.
func (s *Session) takeIn(who idrl.AnnotatorID, c Comparison) (record.Assignment, record.Row, error) {
	as := s.lease(who, s.asked.nextN(), c.Query)
	a := idrl.Answer{ID: c.ID, Assignment: as.ID, Query: c.Query.ID, Annotator: who, Choice: c.Choice, Input: idrl.ImportedInput, Seq: s.log.seq() + 1}
	if _, known := a.ProbA(); !known || !c.Query.Kind.Comparison() {
		return as, record.Row{}, idrl.Errorf(idrl.Invalid, "%q is no choice between two clips", c.Choice)
	}
	q, err := s.features.view.Query(c.Query)
	if err != nil {
		return as, record.Row{}, err
	}
	history, err := s.extend(s.history, q, a)
	if err != nil {
		return as, record.Row{}, fmt.Errorf("update the belief: %w", err)
	}
	entry := s.row(a, history)
	if entry.row.After.Belief, err = s.encode(history); err != nil {
		return as, record.Row{}, err
	}
	s.asked.add(as)
	s.log.add(entry.row.Answer)
	s.noteRegret(entry.row.After.Regret)
	s.asked.close(as.ID, a.ID)
	s.know(history)
	return as, *entry.row, nil
}
