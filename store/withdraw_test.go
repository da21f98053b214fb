package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// What a person leaves in a database.
const (
	secretName   = "Ada-Quintessa-Lovelace"
	secretAnswer = "Ada7f3" // with it the ids of her answers begin
	secretReason = "free-text-reason-of-ada"
	others       = "Grace-Murray"
)

// studied returns a study in which a1, Ada, and a2 answer by turns, n rows in all; of Ada's
// answers one is taken back, and the researcher leaves hers out and takes them in again.
func studied(t *testing.T, dir string, n int) *store.DB {
	t.Helper()
	db := open(t, dir)
	ctx := t.Context()
	must.Do(t, db.CreateSession(ctx, spec("s")))
	for i, name := range []string{secretName, others} {
		link, cookie := fmt.Sprint("link", i), fmt.Sprint("cookie", i)
		must.Get(db.Invite(ctx, hash(link), identity.Invitation{Session: "s", Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)}))(t)
		l := must.Get(db.SignIn(ctx, hash(link), hash(cookie), name, limit, t0))(t)
		must.Do(t, db.AddRejoinKey(ctx, hash("key"+cookie), identity.RejoinKey{Session: "s", Annotator: l.Annotator, Since: t0, UsedAt: t0}, 5))
	}
	must.Do(t, db.Adopt(ctx, "s", generation(0), 0))
	seq := int64(0)
	add := func(a idrl.Answer) {
		t.Helper()
		seq++
		a.Seq = seq
		must.Do(t, db.Append(ctx, "s", record.Row{Answer: a, After: snapshot(seq)}))
	}
	for k := int64(1); seq < int64(n); k++ {
		who := idrl.AnnotatorID([]string{"a1", "a2"}[k%2])
		as := assignment(k, generation(0).Queries[0], who)
		must.Do(t, db.Issue(ctx, "s", []record.Assignment{as}))
		a := answer(k, as)
		if who == "a1" {
			a.ID, a.Choice, a.Reason = idrl.AnswerID(fmt.Sprintf("%s%x", secretAnswer, hash(fmt.Sprint(k))[:13])), idrl.Skip, secretReason // in no order
		}
		add(a)
		if k == 2 {
			add(idrl.Answer{ID: "undo-" + secretAnswer, Annotator: who, Undoes: a.ID, Query: a.Query, ShownAt: t0, AnsweredAt: t0, ReceivedAt: t0})
			add(idrl.Answer{ID: "left-out", Annotator: who, Choice: idrl.LeftOut, ShownAt: t0, AnsweredAt: t0, ReceivedAt: t0})
			add(idrl.Answer{ID: "taken-in", Annotator: who, Choice: idrl.TakenIn, ShownAt: t0, AnsweredAt: t0, ReceivedAt: t0})
		}
	}
	must.Do(t, db.Issue(ctx, "s", []record.Assignment{assignment(10000, generation(0).Queries[0], "a1")})) // not answered
	return db
}

// A withdrawal leaves the rows of others as they are, and of the person's own nothing but
// position and time. Once more changes nothing.
func TestWithdraw(t *testing.T) {
	dir := t.TempDir()
	db := studied(t, dir, 12)
	ctx := t.Context()
	before, err := db.Load(ctx, "s")
	must.Do(t, err)
	_, err = db.Withdraw(ctx, "s", "a9", "grace", t0)
	wantKind(t, err, idrl.NotFound)
	_, err = db.Withdraw(ctx, "s", "", "grace", t0)
	wantKind(t, err, idrl.NotFound)
	changes, err := db.Changes(ctx)
	must.Do(t, err)
	mine := 0
	for _, a := range before.Log {
		if a.Annotator == "a1" {
			mine++
		}
	}
	when := t0.Add(time.Hour)
	for round, want := range []int{mine, 0} {
		if n, err := db.Withdraw(ctx, "s", "a1", "a1", when); n != want || err != nil {
			t.Fatalf("round %d: emptied %d rows, %v; want %d", round, n, err, want)
		}
	}
	if now, err := db.Changes(ctx); now != changes+1 || err != nil {
		t.Errorf("%d changes that a server must learn of, %v; want one more than %d", now, err, changes)
	}
	after, err := db.Load(ctx, "s")
	must.Do(t, err)
	if len(after.Log) != len(before.Log)+1 || len(after.Snapshots) != len(after.Log) || after.Settings.Withdrawals != 1 {
		t.Fatalf("%d rows and %d posteriors, %d withdrawals; want %d, as many, and 1", len(after.Log), len(after.Snapshots), after.Settings.Withdrawals, len(before.Log)+1)
	}
	for i, a := range before.Log {
		got, snap := after.Log[i], after.Snapshots[i]
		if a.Annotator == "a1" {
			want := idrl.Answer{ID: got.ID, Seq: a.Seq, Choice: idrl.Erased, ShownAt: a.ReceivedAt, AnsweredAt: a.ReceivedAt, ReceivedAt: a.ReceivedAt}
			if got != want || got.ID == a.ID || snap.Regret.Definition != 0 {
				t.Errorf("row %d: %+v; want %+v, no statement with it", a.Seq, got, want)
			}
		} else if got != a || snap.Regret != before.Snapshots[i].Regret {
			t.Errorf("row %d of another has changed: %+v, before %+v", a.Seq, got, a)
		}
		if touched := i >= 1; (snap.Mean == nil) != touched || touched && (snap.Belief != nil || snap.Foretold != nil) { // row 1 is a2's
			t.Errorf("row %d: a posterior with mean %v, %d bytes; emptied is to be %v", a.Seq, snap.Mean, len(snap.Belief), touched)
		}
	}
	if last := after.Log[len(after.Log)-1]; last.Choice != idrl.Withdrew || last.Annotator != "" || !last.ReceivedAt.Equal(when) {
		t.Errorf("the last row is %+v", last)
	}
	for _, as := range after.Assignments {
		if as.Annotator == "a1" || as.Annotator == "" && as.Answer == "" {
			t.Errorf("assignment %s is still open or the person's: %+v", as.ID, as)
		}
	}
	people, err := db.Annotators(ctx, "s")
	must.Do(t, err)
	if len(people) != 2 || people[0].ID != "a1" || people[0].Name != "" || people[0].WithdrawnAt.IsZero() || people[1].Name != others || !people[1].WithdrawnAt.IsZero() {
		t.Errorf("people: %+v", people)
	}
	if id, err := db.CreateAnnotator(ctx, "s", ""); id != "a3" || err != nil {
		t.Errorf("the next annotator is %q, %v; want a3", id, err)
	}
	if replies, err := db.Replies(ctx, "s"); replies["a1"] != 0 || replies[""] != 0 || replies["a2"] == 0 || err != nil {
		t.Errorf("replies: %v, %v", replies, err)
	}
	sums, err := db.Sessions(ctx)
	must.Do(t, err)
	if got := sums[0].Answers + sums[0].Skipped; got != len(before.Log)-mine {
		t.Errorf("the session counts %d replies, want the %d of others", got, len(before.Log)-mine)
	}
	must.Do(t, db.Rows(ctx, "s", func(r record.Labelled) error {
		if r.Answer.Annotator != "a2" {
			t.Errorf("an export has %+v", r.Answer)
		}
		return nil
	}))
	if d, err := db.Check(ctx, store.Judge{}); err != nil || !d.None() {
		t.Errorf("damage %+v, %v", d, err)
	}
	// A server that has not followed appends after a row that is not the last one now.
	wantKind(t, db.Append(ctx, "s", record.Row{Answer: answer(int64(len(before.Log))+1, assignment(10001, generation(0).Queries[0], "a2")), After: snapshot(int64(len(before.Log)) + 1)}), idrl.Conflict)
	must.Do(t, db.Close())
}

// Every table that names an annotator, and every column of the log, is thought of: this test
// fails when one is added that a withdrawal does not empty.
func TestWithdrawalForgetsNoTable(t *testing.T) {
	dir := t.TempDir()
	db := studied(t, dir, 12)
	must.Get(db.Withdraw(t.Context(), "s", "a1", "a1", t0))(t)
	must.Do(t, db.Close())
	p := must.Get(sql.Open("sqlite", "file:"+filepath.Join(dir, store.FileName)+"?mode=ro"))(t)
	defer p.Close()
	column := func(query string, args ...any) (out []string) {
		rows := must.Get(p.Query(query, args...))(t)
		defer rows.Close()
		for rows.Next() {
			var s string
			must.Do(t, rows.Scan(&s))
			out = append(out, s)
		}
		must.Do(t, rows.Err())
		return out
	}
	tables := column(`SELECT name FROM sqlite_schema WHERE type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(sqlite_schema.name) WHERE name = 'annotator_id')`)
	slices.Sort(tables)
	if want := []string{"agreement", "answer", "assignment", "flag", "login", "participant", "practice", "rejoin_key", "token"}; !slices.Equal(tables, want) {
		t.Errorf("tables that name an annotator: %v, want %v; one that is new must be emptied in store/withdraw.go", tables, want)
	}
	for _, table := range tables {
		if left := column(`SELECT count(*) FROM ` + table + ` WHERE annotator_id = 'a1'`); left[0] != "0" {
			t.Errorf("table %s has %s rows of the person", table, left[0])
		}
	}
	kept := []string{"session_id", "seq", "id", "choice", "shown_at", "answered_at", "received_at"}
	for _, c := range column(`SELECT name FROM pragma_table_info('answer')`) {
		values := column(`SELECT DISTINCT coalesce(` + c + `, '') FROM answer WHERE choice = 'erased'`)
		if !slices.Contains(kept, c) && (len(values) != 1 || strings.Trim(values[0], "0.") != "") {
			t.Errorf("column %s of emptied rows has %q", c, values)
		}
	}
	if times := column(`SELECT count(*) FROM answer WHERE choice = 'erased' AND (shown_at <> received_at OR answered_at <> received_at)`); times[0] != "0" {
		t.Error("emptied rows tell when the person saw and answered")
	}
	if acts := column(`SELECT count(*) FROM audit WHERE actor = 'a1' OR object LIKE '%ada%'`); acts[0] != "0" {
		t.Error("the audit trail tells of the person")
	}
}

// Rows of others, and of somebody who did not withdraw, cannot be emptied.
func TestTheLogIsStillAppendOnly(t *testing.T) {
	dir := t.TempDir()
	db := studied(t, dir, 12)
	must.Get(db.Withdraw(t.Context(), "s", "a1", "a1", t0))(t)
	must.Do(t, db.Close())
	p := must.Get(sql.Open("sqlite", "file:"+filepath.Join(dir, store.FileName)))(t)
	defer p.Close()
	for _, statement := range []string{
		`UPDATE answer SET choice = 'erased', annotator_id = '' WHERE annotator_id = 'a2'`,
		`UPDATE answer SET choice = 'a' WHERE annotator_id = 'a2'`,
		`UPDATE answer SET received_at = 'now' WHERE choice = 'erased'`,
		`UPDATE answer SET choice = 'a' WHERE choice = 'erased'`,
		`DELETE FROM answer WHERE choice = 'erased'`,
		`UPDATE audit SET actor = '', object = '' WHERE actor = 'a2'`,
		`UPDATE audit SET action = 'x' WHERE actor = ''`,
		`DELETE FROM audit`,
	} {
		if _, err := p.Exec(statement); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v; want a refusal", statement, err)
		}
	}
}
