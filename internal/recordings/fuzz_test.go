package recordings

import (
	"bytes"
	"math"
	"testing"

	"tiebreak/internal/idrl"
)

// Any bytes are refused as a manifest, or are one within limits.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 0.05, "features": ["one"], "rollouts": [{"name": "a", "policy": "x"}, {"name": "b", "policy": "y"}]}`))
	f.Add([]byte(`{"format": "tiebreak.rollouts", "version": 1, "step_seconds": 1e-300, "rollouts": [{"name": "a"}, {"name": "b"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := readManifest(b)
		if err != nil {
			if idrl.KindOf(err) != idrl.Invalid {
				t.Errorf("%v", err)
			}
			return
		}
		names, of := m.policies()
		if len(names) < 2 || len(names) > maxPolicies || len(of) != len(m.Rollouts) || !(m.StepSeconds > 0) || m.ClipSteps < 1 || m.ClipSteps > maxClip || m.PerStep < 1 {
			t.Errorf("%+v", m)
		}
	})
}

// Any bytes are refused as an array, or are rows of finite numbers, all equally long.
func FuzzArray(f *testing.F) {
	f.Add([]byte("\x93NUMPY\x01\x00\x3c\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n\x00\x00\x80\x3f\x00\x00\x00\x40"))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := openArray(bytes.NewReader(b), 1<<20)
		if err != nil {
			return
		}
		rows, err := a.rows()
		if err != nil {
			return
		}
		for _, row := range rows {
			if len(row) != len(rows[0]) || len(row) == 0 {
				t.Fatalf("a row has %d numbers, the first %d", len(row), len(rows[0]))
			}
			for _, v := range row {
				if !(math.Abs(v) <= math.MaxFloat32) {
					t.Fatalf("%v", v)
				}
			}
		}
	})
}
