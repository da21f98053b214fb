package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// replies returns the answers that a reading of part p has.
func replies(t *testing.T, r *store.Reading, p record.Part) (out []idrl.AnswerID) {
	t.Helper()
	must.Do(t, r.Rows(t.Context(), p, func(l record.Labelled) error { out = append(out, l.Answer.ID); return nil }))
	return out
}

// A reading does not see what is written meanwhile, and has the same of everything: its
// parts are the answers after a row, and those that count.
func TestRead(t *testing.T) {
	db := studied(t, t.TempDir(), 12)
	ctx := t.Context()
	must.Do(t, db.Read(ctx, "s", func(r *store.Reading) error {
		all := replies(t, r, record.Part{})
		as := assignment(50, generation(0).Queries[0], "a2")
		must.Do(t, db.Issue(ctx, "s", []record.Assignment{as}))
		last, name, err := r.LastSeq(ctx)
		must.Do(t, err)
		must.Do(t, db.Append(ctx, "s", record.Row{Answer: answer(last+1, as), After: snapshot(last + 1)}))
		if again := replies(t, r, record.Part{}); !slices.Equal(all, again) || last < 12 || name != all[len(all)-1] {
			t.Errorf("answers %q, then %q; last %d, %q", all, again, last, name)
		}
		seq, err := r.SeqOf(ctx, all[2])
		must.Do(t, err)
		if after := replies(t, r, record.Part{After: seq}); !slices.Equal(after, all[3:]) {
			t.Errorf("after %d: %q, want %q", seq, after, all[3:])
		}
		counting := replies(t, r, record.Part{Counting: true})
		if len(counting) != len(all)-1 || slices.Contains(counting, secretAnswer+"-2") { // the one that was withdrawn
			t.Errorf("counting %q of %q", counting, all)
		}
		for _, p := range []record.Part{{}, {After: seq}, {Counting: true}} {
			var asked, clips, want []string
			must.Do(t, r.Questions(ctx, p, func(a record.Assignment, _ bool) error { asked = append(asked, string(a.Answer)); return nil }))
			must.Do(t, r.Clips(ctx, p, func(c idrl.Clip, drawn bool) error {
				clips = append(clips, fmt.Sprint(c.ID, c.Phi, drawn))
				return nil
			}))
			for _, id := range replies(t, r, p) {
				want = append(want, string(id))
			}
			if !slices.Equal(asked, want) || len(clips) != 2 {
				t.Errorf("%+v: questions of %q, clips %q; want %q, and 2", p, asked, clips, want)
			}
		}
		_, err = r.SeqOf(ctx, "none")
		wantKind(t, err, idrl.NotFound)
		return nil
	}))
	wantKind(t, db.Read(ctx, "none", func(*store.Reading) error { return nil }), idrl.NotFound)
}

// A question that comes again is told from one that is asked again after an undo.
func TestQuestionsAgain(t *testing.T) {
	db := seeded(t, t.TempDir())
	q := generation(0).Queries[0]
	var want []bool
	seq := int64(0)
	ask := func(n int64, who idrl.AnnotatorID, reopens idrl.AnswerID, again bool) idrl.AnswerID {
		as := assignment(n, q, who)
		as.Reopens = reopens
		must.Do(t, db.Issue(t.Context(), "s", []record.Assignment{as}))
		seq++
		a := answer(seq, as)
		must.Do(t, db.Append(t.Context(), "s", record.Row{Answer: a, After: snapshot(seq)}))
		want = append(want, again)
		return a.ID
	}
	first := ask(1, "a1", "", false)
	ask(2, "a2", "", false)
	ask(3, "a1", "", true)
	ask(4, "a1", first, false)
	var got []bool
	must.Do(t, db.Read(t.Context(), "s", func(r *store.Reading) error {
		return r.Questions(t.Context(), record.Part{}, func(_ record.Assignment, again bool) error { got = append(got, again); return nil })
	}))
	if !slices.Equal(got, want) {
		t.Errorf("again: %v, want %v", got, want)
	}
}

// Every table of the database is copied with a session, or is named as one that is not. A copy
// names nobody, and holds nothing of who has withdrawn.
func TestRecords(t *testing.T) {
	dir := t.TempDir()
	db := studied(t, dir, 12)
	ctx := t.Context()
	must.Get(db.SetKnown(ctx, "s", generation(0).Queries[0].Clips, record.Known{Use: record.AsGold, Choice: idrl.ChoseA}, "Barbara-Liskov", t0))(t)
	must.Get(db.Withdraw(ctx, "s", "a1", "a1", t0.Add(time.Hour)))(t)
	var seen []string
	rows := map[string]int{}
	var all strings.Builder
	must.Do(t, db.Read(ctx, "s", func(r *store.Reading) error {
		if v, err := r.Schema(ctx); v < 24 || err != nil {
			t.Errorf("version %d of the tables, %v", v, err)
		}
		list := must.Get(r.RecordTables(ctx))(t)
		for _, table := range list {
			seen = append(seen, table.Name)
			for _, c := range table.Columns {
				if !slices.Contains([]string{"TEXT", "INTEGER", "REAL", "BLOB"}, c.Type) {
					t.Errorf("column %s of %s is of type %q", c.Name, table.Name, c.Type)
				}
			}
			must.Do(t, r.Records(ctx, table, func(values []any) error {
				rows[table.Name]++
				for _, v := range values {
					if b, ok := v.([]byte); ok {
						v = string(b)
					}
					fmt.Fprint(&all, v, " ")
				}
				return nil
			}))
		}
		return nil
	}))
	if rows["session"] != 1 || rows["annotator"] != 3 || rows["clip"] == 0 || rows["answer"] < 12 || rows["posterior"] != rows["answer"] || rows["known"] != 1 {
		t.Errorf("rows: %v", rows)
	}
	for _, name := range []string{secretName, secretAnswer, secretReason, others, "Barbara-Liskov"} {
		if strings.Contains(all.String(), name) {
			t.Errorf("the copy holds %q", name)
		}
	}
	if got, want := slices.Sorted(slices.Values(append(seen, store.Unrecorded()...))), tables(t, dir); !slices.Equal(got, want) {
		t.Errorf("tables that are copied or named as not to be: %q; the database has %q", got, want)
	}
}

// tables returns the names of the tables of a database.
func tables(t *testing.T, dir string) (out []string) {
	t.Helper()
	p := must.Get(sql.Open("sqlite", filepath.Join(dir, store.FileName)))(t)
	defer p.Close()
	rows := must.Get(p.QueryContext(context.Background(), `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%' ORDER BY name`))(t)
	defer rows.Close()
	for rows.Next() {
		var name string
		must.Do(t, rows.Scan(&name))
		out = append(out, name)
	}
	must.Do(t, rows.Err())
	return out
}
