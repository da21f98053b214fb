package export

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"tiebreak/internal/check/must"
)

// A value is written as encoding/json writes it: text with anything to escape, and
// numbers of any size.
func TestAppendJSON(t *testing.T) {
	values := []any{
		nil, true, false, int64(0), int64(math.MinInt64), int64(math.MaxInt64), "", "plain", "a b~!", `"quoted"\`, "<b>&amp;</b>", "\x00\x1f\x7f\n\t", "grün", "\u2028", "\xff", "🙂",
		0.0, math.Copysign(0, -1), 1.0, -0.1, 1e-6, 9.99e-7, 1e-7, 5e-324, 1e20, 1e21, 123456789e15, math.MaxFloat64, math.Pi,
		time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC),
	}
	stream := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		values = append(values, math.Float64frombits(stream.Uint64()), stream.NormFloat64())
		values = append(values, string([]byte{byte(stream.Uint32()), byte(stream.Uint32()), byte(stream.Uint32())}))
	}
	for _, v := range values {
		if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
			continue // null, which encoding/json refuses to write
		}
		plain := v
		if at, ok := v.(time.Time); ok {
			plain = stamp(at)
		}
		want := must.Get(json.Marshal(plain))(t)
		if got := string(appendJSON(nil, v)); got != string(want) {
			t.Errorf("%#v is written as %s, want %s", v, got, want)
		}
	}
}
