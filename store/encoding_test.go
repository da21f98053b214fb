package store

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
)

// clips returns stills and moving clips with features of length 2.
func clips() map[idrl.ClipID]idrl.Clip {
	return map[idrl.ClipID]idrl.Clip{
		"a": {ID: "a", Steps: 3, Phi: []float64{1, 2}}, "b": {ID: "b", Steps: 4, Phi: []float64{0.1, -1e300}},
		"c": {ID: "c", Phi: []float64{5, 6}}, "d": {ID: "d", Phi: []float64{5, math.Inf(1)}}, "odd": {ID: "odd", Steps: 1, Phi: []float64{1}},
	}
}

func TestQueriesRoundTrip(t *testing.T) {
	m := clips()
	queries := []idrl.Query{
		idrl.NewComparison(m["b"], m["a"]), idrl.NewComparison(m["c"], m["d"]), idrl.NewRating(m["a"]), idrl.NewRating(m["d"]),
		{ID: "own", Kind: "linear", Clips: []idrl.ClipID{"a", "c", "odd"}},
		{ID: "shown by none"},
		{ID: "still beside moving", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"a", "c"}},
	}
	b, err := encodeQueries(m, queries)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeQueries(b, m)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(queries, got); d != "" {
		t.Error(d)
	}
	names, err := clipNames(b)
	if d := cmp.Diff([]idrl.ClipID{"a", "b", "c", "d", "odd"}, names); d != "" || err != nil {
		t.Error(d, err)
	}
	for n := range b {
		if _, err := decodeQueries(b[:n], m); err == nil {
			t.Errorf("no error for the first %d of %d bytes", n, len(b))
		}
	}
	if _, err := decodeQueries(append(b, 0), m); err == nil {
		t.Error("no error for a byte too many")
	}
	delete(m, "b")
	if _, err := decodeQueries(b, m); err == nil {
		t.Error("no error for a missing clip")
	}
	if _, err := encodeQueries(m, queries); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("error = %v for a query about a missing clip", err)
	}
}

// Queries that follow from their clips take next to no room.
func TestQueriesAreSmall(t *testing.T) {
	m := clips()
	var queries []idrl.Query
	for range 2000 {
		queries = append(queries, idrl.NewComparison(m["a"], m["b"]))
	}
	b, err := encodeQueries(m, queries)
	if err != nil || len(b) > 8<<10 {
		t.Errorf("%d bytes for %d queries, %v; want at most 8 KiB", len(b), len(queries), err)
	}
}

func FuzzQueries(f *testing.F) {
	m := clips()
	b := must.Get(encodeQueries(m, []idrl.Query{
		idrl.NewComparison(m["b"], m["a"]), idrl.NewRating(m["c"]), {ID: "x", Kind: "k", Clips: []idrl.ClipID{"d"}},
	}))(f)
	f.Add(b)
	f.Add([]byte{queriesVersion, 0, 0})
	f.Add(binary.AppendUvarint([]byte{queriesVersion, 1, 1, 'a'}, math.MaxUint64))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = clipNames(b)
		queries, err := decodeQueries(b, m)
		if err != nil {
			return
		}
		again, err := encodeQueries(m, queries)
		if err != nil {
			t.Fatalf("decoded queries do not encode: %v", err)
		}
		back, err := decodeQueries(again, m)
		if err != nil || len(back) != len(queries) {
			t.Fatalf("%d queries became %d: %v", len(queries), len(back), err)
		}
		for i := range back {
			if !same(back[i], queries[i]) {
				t.Fatalf("query %d: %v became %v", i, queries[i], back[i])
			}
		}
	})
}

func FuzzVector(f *testing.F) {
	f.Add(encodeVector([]float64{0, math.Copysign(0, -1), math.Inf(-1), math.NaN(), 5e-324}))
	f.Add([]byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decodeVector(b)
		if (err != nil) != (len(b)%8 != 0) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err == nil && !bytes.Equal(encodeVector(x), b) {
			t.Fatal("a vector does not survive")
		}
	})
}
