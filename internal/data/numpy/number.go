package numpy

import (
	"encoding/binary"
	"math"
)

// width returns the bytes of a number of a kind, 0 if such numbers cannot be read.
func width(kind string) int {
	switch kind {
	case "f8", "i8", "u8":
		return 8
	case "f4", "i4", "u4":
		return 4
	case "i2", "u2":
		return 2
	case "u1", "i1", "b1":
		return 1
	}
	return 0
}

// number returns the first number of b, which has at least width(kind) bytes.
func number(kind string, order binary.ByteOrder, b []byte) float64 {
	switch kind {
	case "f8":
		return math.Float64frombits(order.Uint64(b))
	case "i8":
		return float64(int64(order.Uint64(b))) //nolint:gosec // as it was written
	case "u8":
		return float64(order.Uint64(b))
	case "f4":
		return float64(math.Float32frombits(order.Uint32(b)))
	case "i4":
		return float64(int32(order.Uint32(b))) //nolint:gosec // as it was written
	case "u4":
		return float64(order.Uint32(b))
	case "i2":
		return float64(int16(order.Uint16(b))) //nolint:gosec // as it was written
	case "u2":
		return float64(order.Uint16(b))
	case "i1":
		return float64(int8(b[0])) //nolint:gosec // as it was written
	}
	return float64(b[0])
}
