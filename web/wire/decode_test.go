package wire

import (
	"reflect"
	"testing"
	"time"

	"tiebreak/internal/check/must"
)

var plainAnswer = Encode(&Answer{ID: "a", Assignment: "b", Choice: "a", ShownAt: time.Unix(1.8e9, 0).UTC(), Input: "api", Instructions: 3})

// The short way must let pass what the thorough one does, and nothing else.
func FuzzPlainType(f *testing.F) {
	f.Add(plainAnswer)
	for _, in := range []string{
		`{"t":"hello","outbox":["a",",:{"]}`, ` { "id":"u1", "of":"a1", "t":"undo" } `, `{"t":"renew","assignment":"as\"1"}`,
		`{"\u0074":"renew","assignment":"a"}`, `{"t":"renew","t":"renew","assignment":"a"}`, `{"t":"renew","assignment":"a"}{}`,
		`{"t":"hello","outbox":[["a"]]}`, `{"t":"hello","outbox":[{"t":"a"}]}`, `[{"t":"hello"}]`, `{"t":["hello"]}`, `{"T":"hello","t":"hello"}`,
		`{"t":"hello","outbox":{"a":1}}`, "{\"t\":\"hello\xff\"}", `{"t":"hello"`, `"t"`, ``, `{"t":null}`, `{"a":1e999,"t":"hello"}`,
	} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		want, refused := decodeSlowly(in)
		kind, ok := plainType(in)
		if !ok {
			return
		}
		got, err := decodeAs(kind, in)
		if (err == nil) != (refused == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v; the thorough way gives %v, %v", in, got, err, want, refused)
		}
	})
}

func TestPlainTypeAllocatesOnlyTheType(t *testing.T) {
	if kind, ok := plainType(plainAnswer); kind != "answer" || !ok {
		t.Fatalf("type %q, %v, want that of an answer", kind, ok)
	}
	if n := testing.AllocsPerRun(100, func() { plainType(plainAnswer) }); n > 1 {
		t.Errorf("%v allocations, want one", n)
	}
}

func BenchmarkDecode(b *testing.B) {
	for b.Loop() {
		must.Get(Decode(plainAnswer))(b)
	}
}
