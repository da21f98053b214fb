package numpy_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/data/numpy"
)

// rowsOf returns the rows of an array of at most most numbers.
func rowsOf(content []byte, most int64) ([][]float64, error) {
	f, err := numpy.Open(bytes.NewReader(content), most)
	if err != nil {
		return nil, err
	}
	return f.Rows(1000)
}

// Arrays are read as both generations of NumPy write them (testdata/make.py), and refused if they are
// cut, or have more numbers than may be.
func TestRows(t *testing.T) {
	for name, want := range map[string][][]float64{
		"ints": {{0}, {1}, {-1}, {1}, {0}, {200}, {70000}, {-70000}, {3000000000}},
		"soft": {{1, 0}, {0, 1}, {0.5, 0.5}},
	} {
		for _, version := range []string{"numpy1-", "numpy2-"} {
			whole := must.Get(os.ReadFile(filepath.Join("testdata", version+name+".npy")))(t)
			if got, err := rowsOf(whole, 1000); err != nil || !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
				t.Errorf("%s%s: %v, %v, want %v", version, name, got, err, want)
			}
			for n := range whole {
				if _, err := rowsOf(whole[:n], 1000); err == nil {
					t.Errorf("%s%s is read, cut after %d bytes", version, name, n)
				}
			}
			if _, err := rowsOf(whole, 2); !errors.Is(err, numpy.ErrMany) {
				t.Errorf("%s%s, of more than 2 numbers: %v", version, name, err)
			}
		}
	}
}

// TestHugeShapes: a shape whose numbers no int64 counts is refused.
func TestHugeShapes(t *testing.T) {
	for _, shape := range []string{"2147483648, 32, 268435456", "2147483648, 32, 2147483648, 3", "2, 2147483648, 2147483648, 2147483648"} {
		head := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%s), }\n", shape)
		content := append([]byte(numpy.Magic+"\x01\x00"), byte(len(head)), 0)
		if _, err := numpy.Open(bytes.NewReader(append(content, head...)), 1<<36); !errors.Is(err, numpy.ErrMany) {
			t.Errorf("(%s): %v", shape, err)
		}
	}
}
