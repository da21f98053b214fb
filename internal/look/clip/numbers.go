package clip

import (
	"encoding/binary"
	"math"

	"tiebreak/internal/idrl"
)

// predict returns the expected next number of a column.
func predict(column []int32) int32 {
	switch n := len(column); n {
	case 0:
		return 0
	case 1:
		return column[0]
	default:
		return 2*column[n-1] - column[n-2]
	}
}

// appendColumn appends the numbers of a column to raw. Their absolute value is at
// most maxNumber.
func appendColumn(raw []byte, column []float64, unit float64) []byte {
	numbers := make([]int32, 0, len(column))
	for _, v := range column {
		n := int32(math.Round(v / unit))
		raw = binary.AppendVarint(raw, int64(n-predict(numbers)))
		numbers = append(numbers, n)
	}
	return raw
}

// readColumn reads n numbers and returns the remaining bytes. Sums wrap around at 2^31, so that any
// bytes give finite numbers.
func readColumn(raw []byte, n int) ([]int32, []byte, error) {
	numbers := make([]int32, 0, n)
	for range n {
		v, size := binary.Varint(raw)
		if size <= 0 || v < math.MinInt32 || v > math.MaxInt32 {
			return nil, nil, idrl.Errorf(idrl.Invalid, "clip has numbers that are cut short or too large")
		}
		raw = raw[size:]
		numbers = append(numbers, predict(numbers)+int32(v))
	}
	return numbers, raw, nil
}

// frames reads the numbers of a clip of version 2, a row a frame.
func frames(h *Header, raw []byte) ([][]float64, error) {
	columns := h.columns()
	if len(raw) < columns*h.Frames { // a byte each, at least
		return nil, idrl.Errorf(idrl.Invalid, "clip has %d bytes of numbers for %d numbers", len(raw), columns*h.Frames)
	}
	out := newFrames(h.Frames, columns)
	for c := range columns {
		column, rest, err := readColumn(raw, h.Frames)
		if err != nil {
			return nil, err
		}
		raw = rest
		for f, n := range column {
			out[f][c] = float64(n) * h.Unit
		}
	}
	if len(raw) != 0 {
		return nil, idrl.Errorf(idrl.Invalid, "clip has %d bytes behind its numbers", len(raw))
	}
	return out, nil
}

// framesV1 reads the numbers of a clip of version 1.
func framesV1(h *Header, raw []byte) ([][]float64, error) {
	columns := h.columns()
	if want := 2 * columns * h.Frames; len(raw) != want {
		return nil, idrl.Errorf(idrl.Invalid, "clip has %d bytes of numbers, want %d", len(raw), want)
	}
	out := newFrames(h.Frames, columns)
	now := make([]uint16, columns)
	for f := range out {
		for i := range now {
			now[i] += binary.LittleEndian.Uint16(raw)
			raw = raw[2:]
			out[f][i] = float64(int16(now[i])) * h.Unit
		}
	}
	return out, nil
}

func newFrames(frames, columns int) [][]float64 {
	out := make([][]float64, frames)
	all := make([]float64, frames*columns)
	for f := range out {
		out[f] = all[f*columns : (f+1)*columns : (f+1)*columns]
	}
	return out
}
