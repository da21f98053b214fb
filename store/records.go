package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tiebreak/internal/base/record"
)

// A recordedTable is a table that is copied with a session.
type recordedTable struct {
	name    string
	replace map[string]string // by name of column: an expression
}

// recorded are the tables with the records of a session, each after those that it refers to, with
// the replacements of columns in a copy for others: names of annotators and of researchers. A test
// checks that no table is missing.
var recorded = []recordedTable{
	{name: "session"},
	{name: "control", replace: map[string]string{"actor": "''"}},
	{name: "annotator", replace: map[string]string{"name": "''", "invitation_id": "NULL", "erased_at": "withdrawn_at"}},
	{name: "instructions"},
	{name: "picture"},
	{name: "consent"},
	{name: "agreement"},
	{name: "steps"},
	{name: "clip"},
	{name: "generation"},
	{name: "policy"},
	{name: "pool"},
	{name: "training"},
	{name: "fit"},
	{name: "agent"},
	{name: "agent_part"},
	{name: "query"},
	{name: "group_clip"},
	{name: "known", replace: map[string]string{"author": "''"}},
	{name: "assignment"},
	{name: "answer"},
	{name: "posterior"},
	{name: "belief"},
	{name: "practice"},
	{name: "flag"},
}

// unrecorded are the tables with logins, identities, running work and the audit trail: no copy
// contains them.
var unrecorded = []string{"meta", "user", "share", "preset", "rehearsal", "notice", "notice_unsent", "invitation", "login", "rejoin_key", "token", "participant", "former", "job", "worker_bar", "audit"}

// RecordTables returns the tables with the records of a session, each after those that it refers
// to.
func (r *Reading) RecordTables(ctx context.Context) (out []record.RecordTable, err error) {
	for _, t := range recorded {
		table, err := columns(ctx, r.from, t.name)
		if err != nil {
			return nil, err
		}
		out = append(out, table)
	}
	return out, nil
}

// Records calls yield with the rows of a table, one of RecordTables, that are of the session,
// in the order in which they were inserted: values of the types int64, float64, string,
// []byte, or nil. Names of people are empty.
func (r *Reading) Records(ctx context.Context, t record.RecordTable, yield func([]any) error) error {
	replace := recorded[slices.IndexFunc(recorded, func(o recordedTable) bool { return o.name == t.Name })].replace
	columns, of := make([]string, len(t.Columns)), "session_id"
	if t.Name == "session" {
		of = "id"
	}
	for i, c := range t.Columns {
		columns[i] = c.Name
		if by, ok := replace[c.Name]; ok {
			columns[i] = by
		}
	}
	query := fmt.Sprintf(`SELECT %s FROM %s NOT INDEXED WHERE %s = ? ORDER BY rowid`, strings.Join(columns, ", "), t.Name, of)
	values := make([]any, len(columns))
	targets := make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	return each(ctx, r.from, func(row scanner) error {
		if err := row.Scan(targets...); err != nil {
			return err
		}
		return yield(values)
	}, query, r.spec.ID)
}

// Schema returns the version of the tables: the number of the last migration.
func (r *Reading) Schema(ctx context.Context) (version int64, err error) {
	err = r.from.QueryRowContext(ctx, `SELECT max(version_id) FROM goose_db_version WHERE is_applied`).Scan(&version)
	return version, convert(err)
}
