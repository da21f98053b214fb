package session

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// counts is what an answerLog counts.
type counts struct {
	all             tally
	mine            map[idrl.AnnotatorID]tally
	unclear, broken map[idrl.QueryID]int
}

func countsOf(l *answerLog) counts {
	nothing := func(_ idrl.QueryID, n int) bool { return n == 0 }
	c := counts{l.all, maps.Clone(l.mine), maps.Clone(l.unclear), maps.Clone(l.broken)}
	maps.DeleteFunc(c.unclear, nothing)
	maps.DeleteFunc(c.broken, nothing)
	maps.DeleteFunc(c.mine, func(_ idrl.AnnotatorID, t tally) bool { return t == tally{} })
	return c
}

func (c counts) equal(o counts) bool {
	return c.all == o.all && maps.Equal(c.mine, o.mine) && maps.Equal(c.unclear, o.unclear) && maps.Equal(c.broken, o.broken)
}

// recount counts a log by its definition.
func recount(rows []idrl.Answer) counts {
	l := newAnswerLog(nil)
	for _, a := range record.Standing(rows) {
		mine := l.mine[a.Annotator]
		mine.add(a, 1)
		l.mine[a.Annotator] = mine
	}
	for _, a := range record.Effective(rows) {
		l.share(a, 1)
	}
	return countsOf(l)
}

// randomRow returns a row that may follow those of l: a reply, a withdrawal or a
// decision.
func randomRow(l *answerLog, r *rand.Rand) idrl.Answer {
	choices := []idrl.Choice{idrl.ChoseA, idrl.Equal, idrl.Rated, idrl.CantTell, idrl.Skip, idrl.TechnicalFailure}
	a := idrl.Answer{
		ID: idrl.AnswerID(fmt.Sprint(len(l.rows))), Seq: l.seq() + 1, Annotator: idrl.AnnotatorID(fmt.Sprint("a", r.IntN(3))),
		Query: idrl.QueryID(fmt.Sprint("q", r.IntN(4))), Choice: choices[r.IntN(len(choices))], Reason: []string{"broken", "other"}[r.IntN(2)],
	}
	switch mine := l.lastOf(a.Annotator); {
	case r.IntN(5) == 0:
		a.Choice = []idrl.Choice{idrl.LeftOut, idrl.TakenIn, idrl.Turned}[r.IntN(3)]
	case r.IntN(3) == 0 && len(mine) > 0:
		a.Choice, a.Undoes = "", mine[r.IntN(len(mine))]
	}
	return a
}

// TestLogCounts: whatever is answered, withdrawn, left out, turned and taken in, the counts
// are those of the answers that count; taking rows back leads through the same counts.
func TestLogCounts(t *testing.T) {
	for seed := range uint64(20) {
		r, l := rand.New(rand.NewPCG(seed, 0)), newAnswerLog(nil)
		past := []counts{countsOf(l)}
		for range 120 {
			l.add(randomRow(l, r))
			now := countsOf(l)
			if want := recount(l.rows); !now.equal(want) {
				t.Fatalf("seed %d, after %+v: counts %+v, want %+v", seed, l.rows[len(l.rows)-1], now, want)
			}
			past = append(past, now)
		}
		for n := len(past) - 2; n >= 0; n-- {
			l.drop()
			if now := countsOf(l); !now.equal(past[n]) {
				t.Fatalf("seed %d, back to row %d: counts %+v, want %+v", seed, n, now, past[n])
			}
		}
	}
}

// TestLogIntact: where the log says so, the answers that counted after a row are those that count now,
// as they do; also when rows were taken back.
func TestLogIntact(t *testing.T) {
	for seed := range uint64(20) {
		r, l := rand.New(rand.NewPCG(seed, 1)), newAnswerLog(nil)
		var then [][]idrl.Answer // after each row
		intact := 0
		check := func() {
			t.Helper()
			now := record.Effective(l.rows)
			for seq := int64(1); seq <= l.seq(); seq++ {
				if !l.intact(seq) {
					continue
				}
				intact++
				upTo := slices.DeleteFunc(slices.Clone(now), func(a idrl.Answer) bool { return a.Seq > seq })
				if !slices.Equal(then[seq-1], upTo) {
					t.Fatalf("seed %d: of %d rows, those after %d are not what they were", seed, l.seq(), seq)
				}
			}
			if l.seq() > 0 && !l.intact(l.seq()) {
				t.Fatalf("seed %d: the last of %d rows is not intact", seed, l.seq())
			}
		}
		for range 60 {
			l.add(randomRow(l, r))
			then = append(then, record.Effective(l.rows))
			check()
		}
		if intact < 90 { // 60 are the last rows
			t.Errorf("seed %d: only %d were intact", seed, intact)
		}
		for range 60 {
			l.drop()
			check()
		}
	}
}
