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

// Grow lets the log of a session have n rows: replies are copied in their order, each with an
// assignment of its own. Every two of them are about one new question with two of n/10 new clips,
// so that two annotators who answered in turns have answered the same. The posterior after the last
// row is not known then. Nobody else has the database open.
func Grow(ctx context.Context, dir, session string, n int) error {
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // for the temporary table
	const rows = `CREATE TEMP TABLE k AS WITH RECURSIVE
			said AS (SELECT seq, row_number() OVER (ORDER BY seq) AS r, count(*) OVER () AS replies FROM answer
				WHERE session_id = ?1 AND undoes IS NULL AND assignment_id IS NOT NULL),
			m(last, issued) AS (SELECT max(seq), (SELECT max(n) FROM assignment WHERE session_id = ?1) FROM answer WHERE session_id = ?1),
			k(i) AS (SELECT last + 1 FROM m UNION ALL SELECT i + 1 FROM k WHERE i < ?2)
		SELECT i, i - last + issued AS n, seq AS of FROM m JOIN k JOIN said ON r = 1 + (i - 1) % replies`
	if _, err := db.ExecContext(ctx, rows, session, n); err != nil {
		return fmt.Errorf("number new rows: %w", err)
	}
	for _, t := range growths() {
		if err := t.run(ctx, db, session); err != nil {
			return fmt.Errorf("grow table %s: %w", t.table, err)
		}
	}
	return nil
}

// A growth is how rows of a table are copied: for each row of the table k, with the number i in the
// log and n of the assignment, as the row of the log says.
type growth struct {
	table   string
	source  string            // of the row that is copied, old
	columns map[string]string // by name: what is other than in that row
}

// growths lists them, each table after those that it refers to.
func growths() []growth {
	clip := func(number string) string { // of n/10
		return `printf('%016x%016x', (` + number + `) % (SELECT max(i) / 10 FROM k) * 1103515245, 1)`
	}
	first, second := clip(`k.i / 2 * 40503 + 7`), clip(`k.i / 2 * 31 + 5`)
	const (
		id, assignment, query = `printf('%08x-0000-4000-8000-%012x', k.i, k.i)`, `printf('grown.%d', k.i)`, `printf('%032x', k.i / 2)`
		answered              = `JOIN answer AS said ON said.session_id = ?1 AND said.seq = k.of `
	)
	return []growth{
		{
			"clip", `JOIN (SELECT row_number() OVER (ORDER BY id) AS r, count(*) OVER () AS c, * FROM clip WHERE session_id = ?1) AS old ON r = 1 + k.i % c`,
			map[string]string{"id": clip("k.i")},
		},
		{
			"query", answered + `JOIN query AS old ON old.session_id = ?1 AND old.id = said.query_id`,
			map[string]string{"id": query, "clip_a": first, "clip_b": second},
		},
		{
			"assignment", answered + `JOIN assignment AS old ON old.session_id = ?1 AND old.id = said.assignment_id`,
			map[string]string{"id": assignment, "n": "k.n", "query_id": query, "clip_a": first, "answer_id": id, "why_after": "k.i - 1"},
		},
		{
			"answer", `JOIN answer AS old ON old.session_id = ?1 AND old.seq = k.of`,
			map[string]string{"seq": "k.i", "id": id, "assignment_id": assignment, "query_id": query},
		},
		{"posterior", `JOIN posterior AS old ON old.session_id = ?1 AND old.seq = k.of`, map[string]string{"seq": "k.i"}},
	}
}

func (g growth) run(ctx context.Context, db *sql.DB, session string) error {
	names, err := columnsOf(ctx, db, g.table)
	if err != nil {
		return err
	}
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = "old." + name
	}
	for name, value := range g.columns {
		values[slices.Index(names, name)] = value
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf(`INSERT OR IGNORE INTO %s (%s) SELECT %s FROM k %s ORDER BY k.i`,
		g.table, strings.Join(names, ", "), strings.Join(values, ", "), g.source), session)
	return err
}

func columnsOf(ctx context.Context, db *sql.DB, table string) (names []string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
