package store_test

import (
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/session/journaltest"
)

// An answer takes little room, also where the posterior after it is large: that of 11 weights and
// of four annotators has about 2,600 bytes, of which a session keeps the last ones alone. The limit
// is twice what an answer with its question takes, since pages of the database are filled in part.
func TestBytesOfAnAnswer(t *testing.T) {
	const n, posterior, limit = 1000, 2628, 2 * 1000
	dir := t.TempDir()
	size := func(rows int64) int64 {
		db := open(t, dir)
		rec := must.Get(db.Load(t.Context(), "s"))(t)
		for seq := int64(len(rec.Log)) + 1; seq <= rows; seq++ {
			as := assignment(seq, generation(0).Queries[0], "a1")
			s := journaltest.Snapshot(seq)
			s.Mean, s.Foretold, s.Slot, s.Belief = make([]float64, 11), nil, int(seq/32%9), make([]byte, posterior)
			must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
			must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: answer(seq, as), After: s}))
		}
		must.Do(t, db.Close())
		info := must.Get(os.Stat(filepath.Join(dir, "tiebreak.db")))(t)
		return info.Size()
	}
	must.Do(t, seeded(t, dir).Close())
	before := size(300) // with every slot in use
	if each := (size(300+n) - before) / n; each > limit {
		t.Errorf("%d bytes an answer, want at most %d", each, limit)
	}
}
