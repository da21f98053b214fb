//go:build !race

package session_test

import (
	"encoding/json"
	"os"
	"testing"

	"tiebreak/internal/idrl"
)

func TestZZTrace(t *testing.T) {
	out := os.Getenv("ZZ_OUT")
	if out == "" {
		t.Skip()
	}
	all := map[string][][]float64{}
	for _, of := range settings() {
		if of.kind != idrl.CompareClips || of.name == "junction clip_comparison" {
			continue
		}
		for n := range 16 {
			m := newMatched(t, of, n)
			var w []float64
			obj, prop := 0, 0
			m.each(t, 50, func(k int, st idrl.Status) {
				w = append(w, st.Regret[len(st.Regret)-1].Within)
				for _, o := range st.Stopping.Objections {
					if o.Code == idrl.ByUnasked {
						obj++
					}
				}
				if st.Stopping.Propose && prop == 0 {
					prop = k
				}
			})
			all[of.name] = append(all[of.name], w)
			t.Logf("%s %d: unasked %d, proposed at %d", of.name, n, obj, prop)
		}
	}
	b, _ := json.Marshal(all)
	_ = os.WriteFile(out, b, 0o600)
}
