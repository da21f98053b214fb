package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/session/view"
)

// byRehearsal is the actor in the audit trail of a rehearsal.
const byRehearsal = "rehearsal"

// Questions to which a rehearsal gives the right answers, in place of the researcher.
const (
	rehearsedPractice = 2
	rehearsedGold     = 5
)

// ready returns what gives the right answers to practice and gold questions of a session, as the researcher does before people come:
// those that the simulated people would give without a mistake, to the questions of which they are surest.
func (s *studyServer) ready(id idrl.SessionID) func(context.Context, []float64) error {
	return func(ctx context.Context, theta []float64) error {
		rec, err := s.app.db.Load(ctx, id)
		if err != nil {
			return err
		}
		for i, k := range knownAnswers(rec, theta) {
			if k.Use = record.AsGold; i < rehearsedPractice {
				k.Use = record.ForPractice
			}
			if _, err := s.app.db.SetKnown(ctx, id, k.Query.Clips, k, byRehearsal, time.Now()); err != nil {
				return err
			}
		}
		return s.follow(ctx, id)
	}
}

// knownAnswers returns the questions of a session that true weights decide most clearly, each about other clips than those before, with
// the right answers. There are none without weights, in sessions without gold questions, and of groups.
func knownAnswers(rec record.Record, theta []float64) (out []record.Known) {
	if theta == nil || rec.Spec.GoldEvery == 0 || rec.Spec.Kind.Group() || rec.Generation == nil {
		return nil
	}
	worth := func(q idrl.Query) float64 {
		if !q.Kind.Comparison() {
			return min(1, max(-1, floats.Dot(theta, idrl.RatingVector(rec.Generation.Clips[q.Clips[0]]).X)))
		}
		return floats.Dot(theta, rec.Generation.Clips[q.Clips[0]].Phi) - floats.Dot(theta, rec.Generation.Clips[q.Clips[1]].Phi)
	}
	surest := slices.Clone(rec.Generation.Queries)
	slices.SortStableFunc(surest, func(a, b idrl.Query) int { return cmp.Compare(math.Abs(worth(b)), math.Abs(worth(a))) })
	shown := map[idrl.ClipID]bool{}
	for _, q := range surest {
		if len(out) == rehearsedPractice+rehearsedGold {
			break
		}
		if slices.ContainsFunc(q.Clips, func(c idrl.ClipID) bool { return shown[c] }) {
			continue
		}
		for _, c := range q.Clips {
			shown[c] = true
		}
		k := record.Known{Query: q, Choice: idrl.ChoseB}
		switch w := worth(q); {
		case !q.Kind.Comparison():
			k.Choice, k.Rating = idrl.Rated, w
		case w > 0:
			k.Choice = idrl.ChoseA
		}
		out = append(out, k)
	}
	return out
}

// follow has a session do at once what was decided about it.
func (s *studyServer) follow(ctx context.Context, id idrl.SessionID) error {
	sess, err := s.app.manager.Session(ctx, id)
	if err != nil {
		return err
	}
	return sess.Follow(ctx)
}

// between applies the rules about whose answers count, which a server does every minute, and reports whether the session still asks.
func (s *studyServer) between(id idrl.SessionID) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		if err := s.app.exclude(ctx, id, time.Now()); err != nil {
			return false, err
		}
		if err := s.follow(ctx, id); err != nil {
			return false, err
		}
		sess, err := s.app.manager.Session(ctx, id)
		if err != nil {
			return false, err
		}
		st, err := sess.Status(ctx)
		return !complete(st), err
	}
}

// complete reports whether a session asks nothing more.
func complete(st view.Status) bool {
	return st.State.Ended() || st.Budget > 0 && st.Answers >= st.Budget || st.Stopping.ByItself && st.Stopping.Propose || st.Decided
}

// runFacts are what one rehearsal left in its database.
type runFacts struct {
	Answers, Skipped, Budget int
	Complete                 bool

	People, Agreed          int // who answered; of them, who agreed to a consent text
	Replies                 int // rows of the export
	Practice, PracticeRight int
	Gold, GoldRight         int
	Repeats, HeldOut, Out   int // Out: of annotators who are left out
	Train, Test, Across     int
	Parts                   []part // replies by condition

	// MayStop is the number of the log row after which the session may stop, 0: it may not. States is whether sessions of the kind say so.
	// Against are objections to stopping at the end.
	States  bool
	MayStop int64
	Against int

	Head []string // of an export as CSV, and its first rows
	Rows [][]string
}

// A part is a number of replies with a name.
type part struct {
	Name string
	N    int
}

// facts returns those of a session.
func (s *studyServer) facts(ctx context.Context, id idrl.SessionID) (f runFacts, err error) {
	if _, err := s.between(id)(ctx); err != nil { // the last person's answers, too
		return f, err
	}
	sess, err := s.app.manager.Session(ctx, id)
	if err != nil {
		return f, err
	}
	st, err := sess.Status(ctx)
	if err != nil {
		return f, err
	}
	spec := sess.Spec()
	f = runFacts{Answers: st.Answers, Skipped: st.Skipped, Budget: st.Budget, Complete: complete(st), States: spec.StatesRegret() || spec.IsArena(), Against: len(st.Stopping.Objections)}
	if f.MayStop = mayStop(spec, st); spec.IsArena() {
		f.MayStop, err = s.ordered(ctx, id)
	}
	var rows []record.Labelled
	err = errors.Join(err, s.app.db.Rows(ctx, id, func(r record.Labelled) error { rows = append(rows, r); return nil }))
	err = errors.Join(err, s.app.db.PracticeAnswers(ctx, id, func(p record.Practice, _ record.Known) error {
		f.Practice++
		if p.Judged && p.Right {
			f.PracticeRight++
		}
		return nil
	}))
	if err != nil {
		return f, err
	}
	f.count(rows)
	return f, f.sample(spec, rows)
}

// mayStop returns the row after which the statement of a session allows to stop for the first time; 0 for none.
func mayStop(spec idrl.SessionSpec, st view.Status) int64 {
	rule, held := stopping.Rule{Doubt: spec.Doubt}, 0
	for _, r := range st.Regret {
		if held++; !rule.Holds(r.Within) {
			held = 0
		}
		if held == stopping.InARow {
			return r.Seq
		}
	}
	return 0
}

// ordered returns the number of rows of an arena whose test has found a winner, or without a test, whose first two entrants are told apart; 0 if not.
func (s *studyServer) ordered(ctx context.Context, id idrl.SessionID) (int64, error) {
	rec, err := s.app.db.Load(ctx, id)
	if err != nil {
		return 0, err
	}
	r, _, err := bradley.NewReport(rec)
	if err != nil {
		return 0, err
	}
	if r.Test != nil {
		if r.Test.Winner == "" {
			return 0, nil
		}
		return r.Seq, nil
	}
	for _, p := range r.Pairs {
		if len(r.Entrants) > 1 && p.A == r.Entrants[0].Title && p.B == r.Entrants[1].Title && p.Separated {
			return r.Seq, nil
		}
	}
	return 0, nil
}

// count counts the replies by what they are.
func (f *runFacts) count(rows []record.Labelled) {
	people, agreed := map[idrl.AnnotatorID]bool{}, map[idrl.AnnotatorID]bool{}
	var counting []record.Labelled
	for _, r := range rows {
		f.Replies++
		people[r.Answer.Annotator] = true
		if r.Answer.Consent > 0 {
			agreed[r.Answer.Annotator] = true
		}
		countIf(&f.Gold, r.Gold)
		countIf(&f.GoldRight, r.Gold && r.GoldKnown && r.GoldRight)
		countIf(&f.Repeats, r.Why.Purpose == record.ForRepeat)
		countIf(&f.HeldOut, r.Condition == record.HeldOut)
		countIf(&f.Out, r.LeftOut)
		if name := string(r.Condition); name != "" {
			i := slices.IndexFunc(f.Parts, func(p part) bool { return p.Name == name })
			if i < 0 {
				i, f.Parts = len(f.Parts), append(f.Parts, part{Name: name})
			}
			f.Parts[i].N++
		}
		if !r.LeftOut && !r.Withdrawn {
			counting = append(counting, r)
		}
	}
	slices.SortFunc(f.Parts, func(a, b part) int { return cmp.Compare(a.Name, b.Name) })
	f.People, f.Agreed = len(people), len(agreed)
	f.Train, f.Test, f.Across = bundle.Divided(counting)
}

func countIf(n *int, is bool) {
	if is {
		*n++
	}
}

// sampledRows is how many rows of the export are shown.
const sampledRows = 4

// sample takes the first rows of the export.
func (f *runFacts) sample(spec idrl.SessionSpec, rows []record.Labelled) error {
	var b bytes.Buffer
	err := export.Write(&b, "csv", spec, func(yield func(export.Row) error) error {
		for _, r := range rows[:min(len(rows), sampledRows)] {
			if err := yield(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	table, err := csv.NewReader(&b).ReadAll()
	if err == nil && len(table) > 0 {
		f.Head, f.Rows = table[0], table[1:]
	}
	return err
}
