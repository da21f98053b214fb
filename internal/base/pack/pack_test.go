package pack_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/pack"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type name string

type inner struct {
	Rows  [][]float64
	Small []float32
	Pair  [2]int16
}

type all struct {
	Name    name
	N       int64
	U       uint32
	Yes     bool
	Media   []byte
	Inner   inner
	By      map[name]inner
	At      time.Time
	List    []name
	Ignored any
}

func full() all {
	return all{
		Name: "ä", N: math.MinInt64, U: math.MaxUint32, Yes: true, Media: []byte{0, 1, 255},
		Inner: inner{Rows: [][]float64{{1, math.Inf(-1), math.Copysign(0, -1)}, nil, {}}, Small: []float32{0.1}, Pair: [2]int16{-1, 300}},
		By:    map[name]inner{"b": {}, "a": {Small: []float32{2}}},
		At:    time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), List: []name{},
	}
}

func TestRoundTrip(t *testing.T) {
	for _, want := range []all{{}, full()} {
		b := must.Get(pack.Encode(&want))(t)
		got := must.Get(pack.Decode[all](b))(t)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	v := []float64{math.NaN(), math.Float64frombits(0x7ff8000000000123)}
	b, err := pack.Encode(&v)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pack.Decode[[]float64](b)
	if err != nil || math.Float64bits(got[0]) != math.Float64bits(v[0]) || math.Float64bits(got[1]) != math.Float64bits(v[1]) {
		t.Errorf("NaN: %v, %v", got, err)
	}
}

// Equal values have equal bytes, though maps have no order.
func TestSameBytes(t *testing.T) {
	v := full()
	first := must.Get(pack.Encode(&v))(t)
	for range 20 {
		v := full()
		if b, err := pack.Encode(&v); err != nil || !bytes.Equal(b, first) {
			t.Fatalf("other bytes, %v", err)
		}
	}
}

func TestDamage(t *testing.T) {
	v := full()
	good := must.Get(pack.Encode(&v))(t)
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 4
		if _, err := pack.Decode[all](b); !errors.Is(err, pack.ErrDamaged) {
			t.Fatalf("byte %d is changed: error = %v", i, err)
		}
		if _, err := pack.Decode[all](good[:i]); !errors.Is(err, pack.ErrDamaged) {
			t.Fatalf("%d bytes of %d: error = %v", i, len(good), err)
		}
	}
}

// A value of another version of the program is not misread.
func TestOtherTypes(t *testing.T) {
	type before struct{ Seed, N int64 }
	type after struct{ Seed, Count int64 }
	b := must.Get(pack.Encode(&before{1, 2}))(t)
	if _, err := pack.Decode[after](b); !errors.Is(err, pack.ErrType) {
		t.Errorf("error = %v", err)
	}
}

func TestUnsuitableTypes(t *testing.T) {
	for name, encode := range map[string]func(){
		"unexported": func() { _, _ = pack.Encode(&struct{ a int }{}) },
		"pointer":    func() { _, _ = pack.Encode(&struct{ A *int }{}) },
		"keys":       func() { _, _ = pack.Encode(&map[int]int{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			encode()
		}()
	}
}

// sealed gives bytes the frame that Decode wants, so that it looks at what is within.
func sealed(t testing.TB, body []byte) []byte {
	t.Helper()
	good := must.Get(pack.Encode(&all{}))(t)
	b := append(bytes.Clone(good[:12]), body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// FuzzDecode: whatever the bytes are, Decode refuses them or returns a value that
// encodes to as much as it was decoded from.
func FuzzDecode(f *testing.F) {
	for _, v := range []all{{}, full()} {
		b := must.Get(pack.Encode(&v))(f)
		f.Add(b[12 : len(b)-4])
	}
	f.Add([]byte{0, 0, 0, 0, 255, 255, 255, 255, 15})
	f.Fuzz(func(t *testing.T, body []byte) {
		v, err := pack.Decode[all](sealed(t, body))
		if err != nil {
			if !errors.Is(err, pack.ErrDamaged) {
				t.Fatalf("error = %v", err)
			}
			return
		}
		b, err := pack.Encode(&v)
		if err != nil {
			return // a time with a zone that cannot be written
		}
		again, err := pack.Decode[all](b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(v, again, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("(-first +second):\n%s", diff)
		}
	})
}
