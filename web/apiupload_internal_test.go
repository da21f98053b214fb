package web

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/data/rollouts"
)

// An upload of pictures takes no more memory than its estimate counts: here all that is allocated while it is decoded.
func TestMemoryOfAnUpload(t *testing.T) {
	const pictures = 15
	one := `"` + strings.Repeat("A", 1<<20) + `"`
	content := bytes.NewBufferString(`{"trajectories":[{"pictures":[` + strings.Repeat(one+",", pictures-1) + one + `]}]}`)
	size := uint64(content.Len())
	var body struct {
		Trajectories []rollouts.Trajectory `json:"trajectories"`
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must.Do(t, decodeJSON(content, &body))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > uploadCopies*size || len(body.Trajectories[0].Pictures) != pictures {
		t.Errorf("%d KB take %d KB", size>>10, took>>10)
	}
}
