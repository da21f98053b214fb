package numpy_test

import (
	"bytes"
	"math"
	"testing"

	"tiebreak/internal/data/numpy"
)

// Any bytes are refused as an array, or are rows of finite numbers, all equally long.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x93NUMPY\x01\x00\x3c\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }\n\x00\x00\x80\x3f\x00\x00\x00\x40"))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := numpy.Open(bytes.NewReader(b), 1<<20)
		if err != nil {
			return
		}
		rows, err := a.Rows(1000)
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
