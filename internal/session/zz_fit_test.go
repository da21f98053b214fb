//go:build !race

package session_test

import (
	"encoding/json"
	"os"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/insight"
	"tiebreak/internal/session/journaltest"
)

func TestZZFit(t *testing.T) {
	out := os.Getenv("ZZ_OUT")
	if out == "" {
		t.Skip()
	}
	type row struct {
		P      [3]float64
		A      int
		Within float64
		Loss   float64
	}
	all := map[string][][]row{}
	for _, of := range settings() {
		if of.name != "gridworld clip_comparison" && of.name != "driver clip_comparison" {
			continue
		}
		for rate, name := range map[float64]string{0: "matched", 0.1: "tenth", 0.5: "mistakes25"} {
			for n := range 16 {
				m := newMatched(t, of, n)
				if rate > 0 {
					m.expert = lapsing{of: m.expert, rate: rate}
				}
				var rows []row
				before := m.model.Prior()
				m.each(t, 40, func(k int, st idrl.Status) {
					rec := m.journal.rec
					a := rec.Log[len(rec.Log)-1]
					q := rec.Assignments
					for i := range q {
						if q[i].ID == a.Assignment {
							x := journaltest.Vector(t, rec, q[i].Query)
							p, ok := insight.Predict(m.model, before, &x, "ann")
							r := row{Within: st.Regret[len(st.Regret)-1].Within, Loss: m.stated(st).loss}
							if ok {
								copy(r.P[:], p.Reply)
							}
							for j, c := range idrl.Outcomes() {
								if c == a.Choice {
									r.A = j
								}
							}
							rows = append(rows, r)
						}
					}
					var err error
					if before, err = m.model.Decode(rec.Snapshots[len(rec.Snapshots)-1].Belief); err != nil {
						t.Fatal(err)
					}
				})
				all[of.name+" "+name] = append(all[of.name+" "+name], rows)
			}
			b, _ := json.Marshal(all)
			_ = os.WriteFile(out, b, 0o600)
		}
	}
}
