package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// Raw steps are recorded once, with the clips that were cut from them; a clip whose
// steps are not there counts as without.
func TestSteps(t *testing.T) {
	dir := t.TempDir()
	db := seeded(t, dir)
	const one, two, gone = idrl.StepsID("00000000000000000000000000000001"), idrl.StepsID("00000000000000000000000000000002"), idrl.StepsID("00000000000000000000000000000003")
	g := generation(1)
	fresh := func(name string, raw idrl.StepsID) idrl.Clip {
		c := clip(name, 1, 2)
		c.Raw = raw
		g.Clips[c.ID] = c
		return c
	}
	a, b, c := fresh("n1", two), fresh("n2", one), fresh("n3", gone)
	g.Queries = append(g.Queries, idrl.NewComparison(a, b), idrl.NewRating(c))
	must.Do(t, db.PutSteps(t.Context(), "s", map[idrl.StepsID][]byte{two: []byte("second")}))
	g.Steps = map[idrl.StepsID][]byte{one: []byte("first")}
	must.Do(t, db.Adopt(t.Context(), "s", g, 0))
	next := generation(2)
	next.Steps = map[idrl.StepsID][]byte{one: []byte("first")}
	must.Do(t, db.Adopt(t.Context(), "s", next, 0))

	for n, q := range g.Queries[3:] {
		as := assignment(int64(n+1), q, "a1")
		must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
		must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: answer(int64(n+1), as), After: snapshot(int64(n + 1))}))
	}
	var raws []idrl.StepsID
	must.Do(t, db.Rows(t.Context(), "s", func(r record.Labelled) error {
		for _, c := range r.Clips {
			raws = append(raws, c.Raw)
		}
		return nil
	}))
	if want := []idrl.StepsID{two, one, ""}; !slices.Equal(raws, want) {
		t.Errorf("raw steps of the clips that were answered: %q, want %q", raws, want)
	}
	var names []idrl.StepsID
	must.Do(t, db.AnsweredSteps(t.Context(), "s", func(name idrl.StepsID) error { names = append(names, name); return nil }))
	if want := []idrl.StepsID{one, two}; !slices.Equal(names, want) {
		t.Errorf("raw steps behind the answers: %q, want %q", names, want)
	}
	content, err := db.Steps(t.Context(), "s", two)
	if err != nil || string(content) != "second" {
		t.Errorf("content %q, %v", content, err)
	}
	_, err = db.Steps(t.Context(), "s", gone)
	wantKind(t, err, idrl.NotFound)
	wantKind(t, db.PutSteps(t.Context(), "none", map[idrl.StepsID][]byte{two: {1}}), idrl.NotFound)

	d, err := db.Check(t.Context(), store.Judge{Steps: func(name idrl.StepsID, content []byte) error {
		if name == two && string(content) == "second" {
			return errors.New("damaged")
		}
		return nil
	}})
	if err != nil || len(d.Steps) != 1 || !strings.Contains(d.Steps[0], string(two)) || d.None() {
		t.Errorf("found %+v, %v", d, err)
	}
}
