package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
)

// A record is of one moment: between any two of its rows a person answers, or withdraws, and it is the same as before that.
// Read again, it has the answer, and nothing of the person.
func TestRecordIsOfOneMoment(t *testing.T) {
	const rows = 30
	for _, k := range []int{0, 10, 40, 80, 95} { // of 99 rows of four tables
		t.Run(fmt.Sprint("after row ", k), func(t *testing.T) {
			db := studied(t, t.TempDir(), rows)
			open := assignment(1000, generation(0).Queries[0], "a2")
			must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{open}))
			before := must.Get(db.Load(t.Context(), "s"))(t)
			last := int64(len(before.Log))
			paused := 0
			ctx := idrl.WithPause(t.Context(), func() {
				if paused++; paused != k+1 {
					return
				}
				a := answer(last+1, open)
				must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: a, After: snapshot(last + 1)}))
				must.Get(db.Withdraw(t.Context(), "s", "a1", "", t0.Add(time.Hour)))(t)
			})
			during := must.Get(db.Load(ctx, "s"))(t)
			if paused <= k {
				t.Fatalf("a record has %d rows", paused)
			}
			if d := cmp.Diff(before, during); d != "" {
				t.Errorf("answered and withdrawn meanwhile (-before +during):\n%s", d)
			}
			after := must.Get(db.Load(t.Context(), "s"))(t)
			if n := int64(len(after.Log)); n != last+2 || after.Log[last].Assignment != open.ID || after.Log[last+1].Choice != idrl.Withdrew {
				t.Errorf("afterwards the log has %d rows, want those of an answer and of a withdrawal after %d", n, last)
			}
			if all := fmt.Sprintf("%+v", after); strings.Contains(all, secretReason) || strings.Contains(all, secretAnswer) {
				t.Error("what a person said is read after their withdrawal")
			}
		})
	}
}
