package export

import (
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// A column is one field of a record. Its value is a string, an int64, a
// float64, a bool, a time.Time (zero is absent) or nil (absent).
type column struct {
	name  string
	value func(s *idrl.SessionSpec, r *Row) any
}

// columns returns the fields that every record has, in order. docs/datasets.md
// describes each of them.
func columns() []column {
	return []column{
		{"label_id", func(_ *idrl.SessionSpec, r *Row) any { return string(r.Answer.ID) }},
		{"seq", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.Seq }},
		{"session_id", func(s *idrl.SessionSpec, _ *Row) any { return string(s.ID) }},
		{"env", func(s *idrl.SessionSpec, _ *Row) any { return s.Env }},
		{"query_id", func(_ *idrl.SessionSpec, r *Row) any { return text(string(r.Query.ID)) }},
		{"kind", func(s *idrl.SessionSpec, r *Row) any { return text(s.Kind.Name(r.Query)) }},
		{"annotator_id", func(_ *idrl.SessionSpec, r *Row) any { return string(r.Answer.Annotator) }},
		{"clip_a", func(_ *idrl.SessionSpec, r *Row) any { return clipID(r, 0) }},
		{"clip_b", func(_ *idrl.SessionSpec, r *Row) any { return clipID(r, 1) }},
		{"steps_a", func(_ *idrl.SessionSpec, r *Row) any { return cut(r, 0, clipSteps) }},
		{"start_a", func(_ *idrl.SessionSpec, r *Row) any { return cut(r, 0, clipStart) }},
		{"length_a", func(_ *idrl.SessionSpec, r *Row) any { return cut(r, 0, clipLength) }},
		{"steps_b", func(_ *idrl.SessionSpec, r *Row) any { return cut(r, 1, clipSteps) }},
		{"start_b", func(_ *idrl.SessionSpec, r *Row) any { return cut(r, 1, clipStart) }},
		{"length_b", func(_ *idrl.SessionSpec, r *Row) any { return cut(r, 1, clipLength) }},
		{"choice", func(_ *idrl.SessionSpec, r *Row) any { return text(string(r.Answer.Choice)) }},
		{"prob_a", probA},
		{"rating", rating},
		{"reason", func(_ *idrl.SessionSpec, r *Row) any { return text(r.Answer.Reason) }},
		{"withdrawn", func(_ *idrl.SessionSpec, r *Row) any { return r.Withdrawn }},
		{"left_out", func(_ *idrl.SessionSpec, r *Row) any { return r.LeftOut }},
		{"gold", func(_ *idrl.SessionSpec, r *Row) any { return r.Gold }},
		{"gold_right", goldRight},
		{"left", func(_ *idrl.SessionSpec, r *Row) any { return text(string(r.Answer.Left)) }},
		{"shown_at", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.ShownAt }},
		{"answered_at", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.AnsweredAt }},
		{"received_at", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.ReceivedAt }},
		{"response_ms", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.ResponseMS }},
		{"hidden_ms", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.HiddenMS }},
		{"loops", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.Loops }},
		{"input", func(_ *idrl.SessionSpec, r *Row) any { return text(r.Answer.Input) }},
		{"instructions_version", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.Instructions }},
		{"consent_version", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.Consent }},
		{"late", func(_ *idrl.SessionSpec, r *Row) any { return r.Answer.Late }},
		{"doubts", func(_ *idrl.SessionSpec, r *Row) any { return text(r.Answer.Doubts.String()) }},
		{"strategy", func(s *idrl.SessionSpec, r *Row) any {
			if r.Answer.Input == idrl.ImportedInput {
				return nil
			}
			return record.StrategyOf(*s, r.Condition)
		}},
		{"policy_1", func(_ *idrl.SessionSpec, r *Row) any { return text(string(r.Why.First)) }},
		{"policy_2", func(_ *idrl.SessionSpec, r *Row) any { return text(string(r.Why.Second)) }},
		{"pair_std", func(_ *idrl.SessionSpec, r *Row) any { return whyNumber(r, r.Why.PairStd) }},
		{"info_nats", func(_ *idrl.SessionSpec, r *Row) any { return whyNumber(r, r.Why.Info) }},
		{"generation", func(_ *idrl.SessionSpec, r *Row) any { return r.Why.BasedOn }},
		{"belief_seq", func(_ *idrl.SessionSpec, r *Row) any { return r.Why.AfterSeq }},
		{"much", much},
		{"remark", func(_ *idrl.SessionSpec, r *Row) any { return text(string(r.Answer.Remark)) }},
		{"condition", func(_ *idrl.SessionSpec, r *Row) any { return text(string(r.Condition)) }},
		{"turned", func(_ *idrl.SessionSpec, r *Row) any { return r.Turned }},
		{"wrong_ms", func(_ *idrl.SessionSpec, r *Row) any {
			if r.Answer.WrongMS == 0 {
				return nil
			}
			return r.Answer.WrongMS
		}},
	}
}

// text returns s, or nil if it is empty: absent.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func clipID(r *Row, i int) any {
	if i >= len(r.Query.Clips) {
		return nil
	}
	return string(r.Query.Clips[i])
}

// cut returns what value tells of clip i, nil if its raw steps are not kept.
func cut(r *Row, i int, value func(*idrl.Clip) any) any {
	if i >= len(r.Clips) || r.Clips[i].Raw == "" {
		return nil
	}
	return value(&r.Clips[i])
}

func clipSteps(c *idrl.Clip) any  { return string(c.Raw) }
func clipStart(c *idrl.Clip) any  { return int64(c.Start) }
func clipLength(c *idrl.Clip) any { return int64(c.Steps) }

func probA(_ *idrl.SessionSpec, r *Row) any {
	if p, ok := r.ProbA(); ok {
		return p
	}
	return nil
}

// much is absent where the annotator was not asked how much better a clip is.
func much(s *idrl.SessionSpec, r *Row) any {
	if !s.Strength || r.Answer.Choice != idrl.ChoseA && r.Answer.Choice != idrl.ChoseB {
		return nil
	}
	return r.Answer.Much
}

func rating(_ *idrl.SessionSpec, r *Row) any {
	if r.Answer.Choice != idrl.Rated {
		return nil
	}
	return r.Answer.Rating
}

func goldRight(_ *idrl.SessionSpec, r *Row) any {
	if !r.GoldKnown {
		return nil
	}
	return r.GoldRight
}

// whyNumber leaves a number out where the acquisition function has no pair.
func whyNumber(r *Row, v float64) any {
	if r.Why.First == "" {
		return nil
	}
	return v
}

// slugs returns the names as parts of column names: lower-case letters, digits
// and underscores, each one once.
func slugs(names []string) []string {
	out := make([]string, len(names))
	taken := map[string]bool{}
	for i, name := range names {
		s := slug(name)
		for base, n := s, 2; taken[s]; n++ {
			s = base + "_" + strconv.Itoa(n)
		}
		taken[s] = true
		out[i] = s
	}
	return out
}

func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
	})
	if len(words) == 0 {
		return "feature"
	}
	return strings.Join(words, "_")
}

// stamp formats t for both formats: RFC 3339 in UTC, to the millisecond.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
