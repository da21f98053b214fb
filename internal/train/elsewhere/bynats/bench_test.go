package bynats_test

import (
	"encoding/binary"
	"testing"

	"tiebreak/internal/check/must"
)

// BenchmarkRoundTrip: a message from a server to a worker on loopback, and one back.
func BenchmarkRoundTrip(b *testing.B) {
	p := start(b)
	server, w := p.server(b), p.worker(b, "w1")
	down, up := receive(b, w, "to.w1.>"), receive(b, server, "from.w1.>")
	data := make([]byte, 1<<10)
	for b.Loop() {
		must.Do(b, server.Send(b.Context(), "to.w1.s.l", data))
		<-down
		must.Do(b, w.Send(b.Context(), "from.w1.s.l", data))
		<-up
	}
}

// BenchmarkBlob: a new blob of 16 MiB from a worker to the server.
func BenchmarkBlob(b *testing.B) {
	p := start(b)
	server, w := p.server(b), p.worker(b, "w1")
	blob := make([]byte, 16<<20)
	n := uint64(0)
	b.Run("put", func(b *testing.B) {
		b.SetBytes(int64(len(blob)))
		for b.Loop() {
			n++
			binary.LittleEndian.PutUint64(blob, n)
			must.Get(w.Put(b.Context(), blob))(b)
		}
	})
	name := must.Get(w.Put(b.Context(), blob))(b)
	b.Run("put again", func(b *testing.B) {
		for b.Loop() {
			must.Get(w.Put(b.Context(), blob))(b)
		}
	})
	b.Run("get", func(b *testing.B) {
		b.SetBytes(int64(len(blob)))
		for b.Loop() {
			must.Get(server.Get(b.Context(), name))(b)
		}
	})
}
