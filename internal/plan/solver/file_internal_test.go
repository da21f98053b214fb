package solver

import (
	"crypto/sha256"
	"slices"
	"testing"

	"tiebreak/internal/check/must"
)

// FuzzDecodeTable gives files a true checksum, so that what is inside is read. It
// needs no folder: tens of thousands of durable files take minutes on a slow disk.
func FuzzDecodeTable(f *testing.F) {
	whole := must.Get(encodeTable("key", &Table{Params: [][]float64{{1, -0.1, 1.0 / 3}, {0, 1e300, 2}}, Mu: [][]float64{{4, 5}, {6, 7}}}))(f)
	body := whole[:len(whole)-sha256.Size]
	f.Add(body)
	f.Add(body[:40])
	huge := slices.Clone(body)
	for i := 24; i < 40; i++ { // every size
		huge[i] = 0xff
	}
	f.Add(huge)
	f.Fuzz(func(t *testing.T, b []byte) {
		sum := sha256.Sum256(b)
		file := append(slices.Clone(b), sum[:]...)
		table, key, ok := decodeTable(file)
		if !ok {
			return
		}
		if again, err := encodeTable(key, table); err != nil || !slices.Equal(again, file) {
			t.Errorf("encoded again the file differs, error %v", err)
		}
	})
}
