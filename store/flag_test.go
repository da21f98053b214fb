package store_test

import (
	"fmt"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func TestFlags(t *testing.T) {
	db, dir, g := asked(t)
	ctx, now := t.Context(), time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	f := record.Flag{ID: "f1", Annotator: "a1", Assignment: "s.1", Note: "<script>alert(1)</script>\nblurred", At: now}
	must.Get(db.Spec(ctx, "s"))(t)
	rec, err := db.Load(ctx, "s")
	if err != nil {
		t.Fatal(err)
	}
	f.Assignment = rec.Assignments[0].ID
	for range 2 { // sent again
		must.Do(t, db.AddFlag(ctx, "s", f))
	}
	want := f
	want.Query = g.Queries[0].ID
	got, err := db.Flags(ctx, "s")
	if diff := cmp.Diff([]record.Flag{want}, got); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	for _, test := range []struct {
		name   string
		change func(*record.Flag)
		want   idrl.Kind
	}{
		{"somebody else's question", func(f *record.Flag) { f.Annotator = "a2" }, idrl.NotFound},
		{"no such question", func(f *record.Flag) { f.Assignment = "s.9" }, idrl.NotFound},
		{"nobody", func(f *record.Flag) { f.Annotator = "a9" }, idrl.NotFound},
		{"no note", func(f *record.Flag) { f.Note = "" }, idrl.Invalid},
	} {
		bad := f
		bad.ID = "f2"
		test.change(&bad)
		if err := db.AddFlag(ctx, "s", bad); idrl.KindOf(err) != test.want {
			t.Errorf("%s: %v, want kind %v", test.name, err, test.want)
		}
	}
	for k := range record.MaxFlags - 1 {
		f.ID = fmt.Sprint("more ", k)
		must.Do(t, db.AddFlag(ctx, "s", f))
	}
	f.ID = "too many"
	if err := db.AddFlag(ctx, "s", f); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("a flag too many: %v", err)
	}
	must.Do(t, db.Close())
	db = open(t, dir)
	if got, err := db.Flags(ctx, "s"); len(got) != record.MaxFlags || err != nil {
		t.Errorf("after a restart %d flags, %v", len(got), err)
	}
	must.Get(db.Withdraw(ctx, "s", "a1", "ada", now))(t)
	if got, err := db.Flags(ctx, "s"); len(got) != 0 || err != nil {
		t.Errorf("of somebody who withdrew %d flags, %v", len(got), err)
	}
	if _, err := db.Flags(ctx, "x"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("flags of no session: %v", err)
	}
}
