package export

import (
	"fmt"
	"strings"

	"tiebreak/internal/idrl"
)

// groupColumns are those that exports of sessions about groups have besides the others.
func groupColumns() []column {
	return []column{
		{"group_id", func(_ *idrl.SessionSpec, r *Row) any { return groupID(r) }},
		{"group_part", func(_ *idrl.SessionSpec, r *Row) any { return ofPart(r, int64(r.Part)) }},
		{"position_a", func(_ *idrl.SessionSpec, r *Row) any { return ofPart(r, position(r, 0)) }},
		{"position_b", func(_ *idrl.SessionSpec, r *Row) any { return ofPart(r, position(r, 1)) }},
	}
}

// Parts returns rows with the comparisons that the answers to groups imply in place of these,
// the better clip as a. Answers to groups that imply none have no clips.
func Parts(rows Rows) Rows {
	return func(yield func(Row) error) error {
		return rows(func(r Row) error {
			if !r.Query.Kind.Group() {
				return yield(r)
			}
			implied := r.Answer.Implied(len(r.Query.Clips))
			if len(implied) == 0 {
				r.Query.Clips, r.Clips = nil, nil
				return yield(r)
			}
			for k, places := range implied {
				if err := yield(part(r, k+1, places)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// part returns comparison k of those that r, an answer to a group, implies.
func part(r Row, k int, places [2]int) Row {
	out := r
	out.Part, out.Places = k, places
	out.Answer.ID = idrl.AnswerID(fmt.Sprintf("%s.%d", r.Answer.ID, k))
	out.Answer.Choice = idrl.ChoseA
	out.Query.Clips, out.Clips = nil, nil
	for _, i := range places {
		out.Query.Clips, out.Clips = append(out.Query.Clips, r.Query.Clips[i]), append(out.Clips, r.Clips[i])
	}
	return out
}

func groupID(r *Row) any {
	if !r.Query.Kind.Group() {
		return nil
	}
	return strings.TrimSuffix(string(r.Answer.ID), fmt.Sprintf(".%d", r.Part))
}

// ofPart returns v, or nil for a row that is no part of an answer to a group.
func ofPart(r *Row, v int64) any {
	if r.Part == 0 {
		return nil
	}
	return v
}

// position returns where clip a or b of a part was shown, from 1 on, row by row.
func position(r *Row, i int) int64 {
	return int64(strings.Index(string(r.Answer.Order), string(idrl.SideOf(r.Places[i])))) + 1
}
