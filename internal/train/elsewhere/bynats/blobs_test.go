package bynats_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
)

// TestBlobsAreCarriedOnce: what is kept is not carried again, and what is there in place of a blob is not handed over.
func TestBlobsAreCarriedOnce(t *testing.T) {
	t.Parallel()
	p := start(t)
	server, w := p.server(t), p.worker(t, "w1")
	cfg := must.Get(p.Carrier())(t)
	own := must.Get(nats.Connect("", cfg.Options...))(t)
	t.Cleanup(own.Close)
	js := must.Get(jetstream.New(own))(t)
	stored := func() uint64 {
		return must.Get(js.Stream(t.Context(), "TIEBREAK_BLOBS"))(t).CachedInfo().State.LastSeq
	}
	blob := make([]byte, 1<<20) // four chunks
	name := must.Get(w.Put(t.Context(), blob))(t)
	if n := stored(); n != 5 {
		t.Errorf("%d messages are stored, want four chunks and a mark", n)
	}
	must.Get(server.Put(t.Context(), blob))(t)
	if n := stored(); n != 5 {
		t.Errorf("%d messages are stored after the same again", n)
	}

	nc := p.raw(t, "w2") // may write every blob
	chunk := fmt.Sprintf("tiebreak.blobs.%x.", sha256.Sum256(blob))
	for _, header := range []nats.Header{{"Tiebreak-Chunks": {"4"}}, {"Tiebreak-Chunks": {"1000000000"}}, {"Tiebreak-Chunks": {"-1"}}, nil} {
		must.Get(nc.RequestMsg(&nats.Msg{Subject: chunk + "0", Header: header, Data: []byte("else")}, waittest.Limit))(t)
		if _, err := server.Get(t.Context(), name); idrl.KindOf(err) != idrl.Damaged {
			t.Errorf("a blob with another chunk, %v: %v", header, err)
		}
	}
	must.Get(nc.RequestMsg(&nats.Msg{Subject: chunk + "0", Header: nats.Header{"Tiebreak-Chunks": {"5"}}}, waittest.Limit))(t)
	if _, err := server.Get(t.Context(), name); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("a blob without its last chunk: %v", err)
	}
}
