// Package storetest makes large databases for benchmarks.
package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/store"
)

// Grow lets the log of a session, of which every row is a reply, have n rows: rows are copied in
// their order, each with an assignment of its own. Every two of them are about one new question
// with two of n/10 new clips, so that two annotators who answered in turns have answered the same.
// Assignments that are open go. The posterior after the last row is not known then. Nobody else
// has the database open.
func Grow(ctx context.Context, dir, session string, n int) (err error) {
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)                // for the temporary table
	clip := func(number string) string { // of n/10
		return `printf('%016x%016x', (` + number + `) % (SELECT max(i) / 10 FROM k) * 1103515245, 1)`
	}
	first, second := clip(`k.i / 2 * 40503 + 7`), clip(`k.i / 2 * 31 + 5`)
	id, assignment, query := `printf('%08x-0000-4000-8000-%012x', k.i, k.i)`, `printf('grown.%d', k.i)`, `printf('%032x', k.i / 2)`
	const alike = ` AND old.id = (SELECT assignment_id FROM answer WHERE answer.session_id = old.session_id AND seq = of)`
	for _, step := range []growth{
		{table: "clip", each: `JOIN (SELECT id AS name, row_number() OVER (ORDER BY id) AS r, count(*) OVER () AS c FROM clip WHERE session_id = ?1) ON r = 1 + k.i % c`, of: ` AND old.id = name`,
			columns: map[string]string{"id": clip("k.i")}},
		{table: "query", of: ` AND old.id = (SELECT query_id FROM answer WHERE answer.session_id = old.session_id AND seq = of)`,
			columns: map[string]string{"id": query, "clip_a": first, "clip_b": second}},
		{table: "assignment", of: alike,
			columns: map[string]string{"id": assignment, "n": "k.i", "query_id": query, "clip_a": first, "answer_id": id, "why_after": "k.i - 1"}},
		{table: "answer", of: ` AND old.seq = of`, columns: map[string]string{"seq": "k.i", "id": id, "assignment_id": assignment, "query_id": query}},
		{table: "posterior", of: ` AND old.seq = of`, columns: map[string]string{"seq": "k.i"}},
	} {
		if step.table == "clip" {
			if err := begin(ctx, db, session, n); err != nil {
				return err
			}
		}
		if err := step.run(ctx, db, session); err != nil {
			return fmt.Errorf("grow %s: %w", step.table, err)
		}
	}
	return nil
}

// begin makes the table k of new rows i, each with the row that it is a copy of.
func begin(ctx context.Context, db *sql.DB, session string, n int) error {
	for _, statement := range []string{
		`DELETE FROM assignment WHERE session_id = ?1 AND answer_id IS NULL`,
		`UPDATE assignment SET n = -n WHERE session_id = ?1`,
		`UPDATE assignment SET n = (SELECT seq FROM answer WHERE answer.session_id = ?1 AND assignment_id = assignment.id) WHERE session_id = ?1`,
		`CREATE TEMP TABLE k AS WITH RECURSIVE m(rows) AS (SELECT max(seq) FROM answer WHERE session_id = ?1),
			k(i) AS (SELECT rows + 1 FROM m UNION ALL SELECT i + 1 FROM k WHERE i < ?2) SELECT i, 1 + (i - 1) % rows AS of FROM k JOIN m`,
	} {
		if _, err := db.ExecContext(ctx, statement, session, n); err != nil {
			return err
		}
	}
	return nil
}

// A growth is how rows of a table are copied.
type growth struct {
	table   string
	each    string            // a further table beside k
	of      string            // which row is copied
	columns map[string]string // by name: what is other than in that row
}

func (g growth) run(ctx context.Context, db *sql.DB, session string) error {
	rows, err := db.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, g.table)
	if err != nil {
		return err
	}
	var names, values []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		names, values = append(names, name), append(values, "old."+name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for name, value := range g.columns {
		values[slices.Index(names, name)] = value
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf(`INSERT OR IGNORE INTO %s (%s) SELECT %s FROM k %s JOIN %[1]s AS old ON old.session_id = ?1%[5]s`,
		g.table, strings.Join(names, ", "), strings.Join(values, ", "), g.each, g.of), session)
	return err
}
