package store

import (
	"context"

	"tiebreak/internal/idrl"
)

// CreateArena records a new arena with the encoded policies of its entrants, under a name, like
// those of an agent of the session (Agent). Otherwise it is CreateSession.
func (db studies) CreateArena(ctx context.Context, spec idrl.SessionSpec, owner, name string, policies []byte) error {
	if err := spec.Arena.Validate(); err != nil {
		return err
	}
	return db.create(ctx, spec, owner, func(t *tx) error {
		return generationTx{t, spec.ID}.putAgents(map[string][]byte{name: policies})
	})
}

// PoliciesAt returns the policies with their parameters of the generations that were adopted up to
// log row seq, in the order in which they were recorded.
func (db studies) PoliciesAt(ctx context.Context, id idrl.SessionID, seq int64) ([]idrl.Candidate, error) {
	const query = `
		SELECT policy.id, origin, params, mu, mus, acted_policy, acted_task, acted_start FROM policy JOIN generation USING (session_id, based_on)
		WHERE session_id = ? AND adopted_at <= ? ORDER BY adopted_at, based_on, k`
	var out []idrl.Candidate
	err := each(ctx, db.read, func(row scanner) error {
		var c idrl.Candidate
		err := row.Scan(&c.ID, &c.Origin, vectorColumn{&c.Params}, vectorColumn{&c.Mu}, rowsColumn{&c.Mus, &c.Mu},
			&c.Acted.Policy, &c.Acted.Task, &c.Acted.Start)
		out = append(out, c)
		return err
	}, query, id, seq)
	return out, err
}
