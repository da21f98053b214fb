package store_test

import (
	"fmt"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// Rehearsals are there after a restart: as they ended, or without an end. Each account keeps its last ones.
func TestRehearsalsAreKept(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	at := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	for _, user := range []string{"ada", "bo"} {
		must.Do(t, db.AddUser(t.Context(), user, identity.Researcher, at))
	}
	began := func(name, owner string) record.Rehearsal {
		return record.Rehearsal{Name: name, Owner: owner, Title: "Walk", Asked: []byte(`{"People": 3}`), Began: at}
	}
	for _, r := range []record.Rehearsal{began("good", "ada"), began("bad", "ada"), began("cut", "bo")} {
		must.Do(t, db.BeginRehearsal(t.Context(), r))
	}
	if err := db.BeginRehearsal(t.Context(), began("x", "nobody")); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("an account that is not there: %v", err)
	}
	must.Do(t, db.EndRehearsal(t.Context(), "good", "", []byte(`{"Title": "Expected"}`), at.Add(time.Minute)))
	must.Do(t, db.EndRehearsal(t.Context(), "bad", "It was stopped.", nil, at.Add(time.Hour)))
	must.Do(t, db.Close())
	db = open(t, dir)
	good, bad, cut := began("good", "ada"), began("bad", "ada"), began("cut", "bo")
	good.Ended, good.Report = at.Add(time.Minute), []byte(`{"Title": "Expected"}`)
	bad.Ended, bad.Wrong, bad.Report = at.Add(time.Hour), "It was stopped.", []byte{}
	cut.Report = []byte{}
	for _, want := range []record.Rehearsal{good, bad, cut} {
		got, err := db.Rehearsal(t.Context(), want.Name)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", want.Name, err, diff)
		}
	}
	if _, err := db.Rehearsal(t.Context(), "none"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("none: %v", err)
	}
	names := func(owner string) (out []string) {
		list := must.Get(db.Rehearsals(t.Context(), owner))(t)
		for _, r := range list {
			out = append(out, r.Name)
		}
		return out
	}
	if diff := cmp.Diff([][]string{{"cut", "bad", "good"}, {"bad", "good"}}, [][]string{names(""), names("ada")}); diff != "" {
		t.Error(diff)
	}
	for n := range store.MaxRehearsals {
		must.Do(t, db.BeginRehearsal(t.Context(), began(fmt.Sprint("more ", n), "ada")))
	}
	must.Do(t, db.EndRehearsal(t.Context(), "good", "", nil, at)) // it is gone
	if list := names("ada"); len(list) != store.MaxRehearsals || list[0] != "more 49" || list[49] != "more 0" {
		t.Errorf("kept: %q", list)
	}
	if list := names("bo"); len(list) != 1 {
		t.Errorf("kept of another account: %q", list)
	}
}
