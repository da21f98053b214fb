package journaltest

import (
	"bytes"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func (b *bench) adoptAgain() {
	b.must(b.adopt(Generation(0), 0))
	b.must(b.adopt(Generation(0), 5))
	if at := b.load().AdoptedAt; at != 0 {
		b.Errorf("adopted at %d, want 0", at)
	}
}

func (b *bench) adoptRefuses() {
	b.must(b.adopt(Generation(0), 0))
	before := b.load()
	other := Generation(0)
	other.Queries = other.Queries[:1]
	b.refused(b.adopt(other, 5), idrl.Conflict)
	b.refused(b.Adopt(b.Context(), "x", Generation(0), 0), idrl.NotFound)
	lost := Generation(7)
	delete(lost.Clips, "c1")
	b.refused(b.adopt(lost, 7), idrl.Invalid)
	lost.Queries, lost.Candidates[0].Clip = nil, "c9"
	b.refused(b.adopt(lost, 7), idrl.NotFound)
	if d := cmp.Diff(before, b.load(), Same); d != "" {
		b.Errorf("a refusal changed the record:\n%s", d)
	}
}

func (b *bench) extend(g idrl.Generation, from int) error {
	return b.Extend(b.Context(), "s", g, from, 4)
}

// What a follow-up adds belongs to the generation: in use, and among those of the past.
func (b *bench) extends() {
	b.must(b.adopt(Generation(0), 0))
	b.must(b.adopt(Generation(3), 4))
	before := b.load()
	once, twice := Extended(3, 1), Extended(3, 2)
	b.must(b.extend(once, 3))
	b.must(b.extend(once, 3))
	once.Steps = nil // they are read one by one
	want := before
	want.Generation = &once
	if d := cmp.Diff(want, b.load(), Same); d != "" {
		b.Errorf("the record differs (-want +got):\n%s", d)
	}
	b.must(b.extend(twice, 4))
	b.must(b.extend(twice, 4))
	b.must(b.issue(Assignment(1, twice.Queries[0], "a1")))
	for name, content := range twice.Steps {
		if got, err := b.Steps(b.Context(), "s", name); err != nil || !bytes.Equal(got, content) {
			b.Errorf("steps %s: %v, %v; want %v", name, got, err, content)
		}
	}
	b.must(b.adopt(Generation(7), 9))
	if past := b.load().Archive; len(past) != 2 || len(past[0]) != 3 || len(past[1]) != 5 || past[1][4].ID != "g3.p4" {
		b.Errorf("the archive: %+v", past)
	}
}

func (b *bench) extendRefuses() {
	b.refused(b.extend(Extended(0, 1), 3), idrl.NotFound)
	b.must(b.adopt(Generation(0), 0))
	b.must(b.adopt(Generation(3), 4))
	b.must(b.extend(Extended(3, 1), 3))
	before := b.load()
	other, query, lost, unknown := Extended(3, 1), Extended(3, 1), Extended(3, 2), Extended(3, 2)
	other.Candidates[3].Params = []float64{0.5}
	query.Queries = query.Queries[1:]
	delete(lost.Clips, "c4")
	unknown.Candidates[4].Clip = "c9"
	b.refused(b.extend(other, 3), idrl.Conflict)
	b.refused(b.extend(query, 3), idrl.Conflict)
	b.refused(b.extend(Extended(3, 3), 5), idrl.Conflict)
	b.refused(b.extend(Extended(0, 1), 3), idrl.Conflict)
	b.must(b.extend(Extended(3, 1), 4)) // agents alone
	b.refused(b.extend(Extended(3, 1), 5), idrl.Invalid)
	b.refused(b.extend(Extended(3, 1), 0), idrl.Invalid)
	b.refused(b.extend(lost, 4), idrl.Invalid)
	b.refused(b.extend(unknown, 4), idrl.NotFound)
	b.refused(b.Extend(b.Context(), "x", Extended(3, 2), 4, 4), idrl.NotFound)
	if d := cmp.Diff(before, b.load(), Same); d != "" {
		b.Errorf("a refusal changed the record:\n%s", d)
	}
}

func (b *bench) fits() {
	b.must(b.AdoptFit(b.Context(), "s", Fit(1)))
	b.must(b.AdoptFit(b.Context(), "s", Fit(2)))
	b.must(b.AdoptFit(b.Context(), "s", Fit(2)))
	other, gap, none := Fit(2), Fit(4), Fit(3)
	other.Content, none.Version = []byte{7}, 0
	b.refused(b.AdoptFit(b.Context(), "s", other), idrl.Conflict)
	b.refused(b.AdoptFit(b.Context(), "s", gap), idrl.Conflict)
	b.refused(b.AdoptFit(b.Context(), "s", none), idrl.Conflict)
	b.refused(b.AdoptFit(b.Context(), "x", Fit(1)), idrl.NotFound)
	if d := cmp.Diff([]record.LearntFit{Fit(1), Fit(2)}, b.load().Fits, Same); d != "" {
		b.Errorf("the fits differ (-want +got):\n%s", d)
	}
}
