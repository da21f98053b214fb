package store

import (
	"context"
	"crypto/subtle"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// Withdraw erases what is recorded of an annotator of a session, in one transaction that
// cannot be taken back: name, logins and keys, what their replies and their acts in the
// audit trail say, which questions they were asked, and the posteriors that were learnt from
// them. Their rows of the log keep position and time, so that the rows of others keep
// theirs, and say no more of whom they were; a last row says that data were withdrawn. It
// returns how many rows were emptied, which is 0 when nothing is left to erase, and an error
// of kind NotFound if there is no such annotator. actor is who does it, who or a researcher.
//
// What the files of the data folder hold of the person goes with Erase, which the process that
// has opened the folder alone runs in the background. A participant of a crowd platform is known
// to have withdrawn (Withdrew).
func (db participants) Withdraw(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, actor string, now time.Time) (rows int, err error) {
	err = db.do(ctx, func(t *tx) (err error) {
		rows, err = t.withdraw(session, who, actor, now)
		return err
	})
	if err != nil {
		return 0, err
	}
	select {
	case db.owes <- struct{}{}:
	default: // it is to look already, or another process does
	}
	return rows, nil
}

func (t *tx) withdraw(session idrl.SessionID, who idrl.AnnotatorID, actor string, now time.Time) (rows int, err error) {
	var done bool
	const find = `SELECT withdrawn_at IS NOT NULL FROM annotator WHERE session_id = ? AND id = ? AND id <> ''`
	if err := t.row(find, session, who).Scan(&done); err != nil || done {
		return 0, missing(err, "session %s has no annotator %q", session, who)
	}
	if err := t.keepFormer(session, who); err != nil {
		return 0, err
	}
	for _, statement := range withdrawal {
		n, err := t.exec(statement.sql, session, who, encodeTime(now))
		if err != nil {
			return 0, err
		}
		if statement.counts {
			rows = int(n)
		}
	}
	if actor == string(who) {
		actor = "" // otherwise that would be recorded as an act of theirs, too
	}
	return rows, t.changed(now, session, actor, "withdraw data", string(who))
}

// Receipt returns a secret text with which a person who withdraws can check whether their data are
// erased.
func (db participants) Receipt(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (string, error) {
	key, err := db.Meta(ctx, crowdKey)
	if err == nil && key == "" {
		if err = db.do(ctx, (*tx).makeCrowdKey); err == nil {
			key, err = db.Meta(ctx, crowdKey)
		}
	}
	return keyed(key, "receipt", string(session)+"\x00"+string(who)), err
}

// Withdrawn returns the annotator of a session who withdrew their data and has the receipt, or an error of kind
// NotFound.
func (db participants) Withdrawn(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, receipt string) (a identity.Annotator, err error) {
	right, err := db.Receipt(ctx, session, who)
	if err == nil {
		a, err = db.Joined(ctx, session, who)
	}
	if err == nil && (a.WithdrawnAt.IsZero() || subtle.ConstantTimeCompare([]byte(right), []byte(receipt)) != 1) {
		err = idrl.Errorf(idrl.NotFound, "there is no withdrawal of data with this receipt in the session")
	}
	return a, err
}

// withdrawal are the statements that erase annotator ?2 of session ?1 at time ?3. A test holds that
// no table is forgotten.
var withdrawal = []struct {
	sql    string
	counts bool // the condition must see the rows before they change
}{
	{sql: `UPDATE annotator SET name = '', withdrawn_at = ?3, revoked_at = coalesce(revoked_at, ?3), left_out = 0, turned = 0,
		invitation_id = NULL, acknowledged = 0 WHERE session_id = ?1 AND id = ?2`},
	{sql: `DELETE FROM login WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `DELETE FROM rejoin_key WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `DELETE FROM token WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `DELETE FROM agreement WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `DELETE FROM participant WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `DELETE FROM practice WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `DELETE FROM flag WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `INSERT OR IGNORE INTO annotator (session_id, id, name, created_at) VALUES (?1, '', '', ?3)`},

	// The posterior after a row is a cache, and is computed again where it is needed. The
	// statements after the rows of others remain, as a record of what the page said then.
	{sql: `UPDATE posterior SET belief = x'', mean = x'', foretold = x'', definition = 0 WHERE session_id = ?1
		AND seq >= (SELECT min(seq) FROM answer WHERE session_id = ?1 AND annotator_id = ?2)`},
	{sql: `DELETE FROM belief WHERE session_id = ?1 AND seq >= (SELECT min(seq) FROM answer WHERE session_id = ?1 AND annotator_id = ?2)`},
	{sql: `UPDATE generation SET cov = x'' WHERE session_id = ?1
		AND based_on >= (SELECT min(seq) FROM answer WHERE session_id = ?1 AND annotator_id = ?2)`},
	{sql: `UPDATE posterior SET regret_definition = 0, regret_policies = 0, regret_mean = 0, regret_p95 = 0, regret_within = 0,
		regret_unbeaten = 0, regret_span = 0 WHERE session_id = ?1
		AND seq IN (SELECT seq FROM answer WHERE session_id = ?1 AND annotator_id = ?2)`},

	{counts: true, sql: `UPDATE answer SET id = lower(hex(randomblob(16))), assignment_id = NULL, query_id = '', annotator_id = '', undoes = NULL,
		choice = 'erased', rating = 0, reason = '', left_side = '', shown_at = received_at, answered_at = received_at,
		response_ms = 0, hidden_ms = 0, loops = 0, input = '', instructions = 0, late = 0, doubts = '',
		much = 0, remark = '', shown_order = '', best = '', worst = '', consent = 0, wrong_ms = 0
		WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `UPDATE assignment SET annotator_id = '', answer_id = 'erased', reopens = NULL
		WHERE session_id = ?1 AND annotator_id = ?2`},
	{sql: `UPDATE audit SET actor = '', object = '', salt = x'' WHERE session_id = ?1 AND actor = ?2`},

	{sql: `INSERT INTO answer (session_id, seq, id, query_id, annotator_id, choice, rating, reason, left_side, shown_at, answered_at,
			received_at, response_ms, hidden_ms, loops, input, instructions, late)
		SELECT ?1, coalesce(max(seq), 0) + 1, lower(hex(randomblob(16))), '', '', 'withdrew', 0, '', '', ?3, ?3, ?3, 0, 0, 0, '', 0, 0
		FROM answer WHERE session_id = ?1`},
	{sql: `INSERT INTO posterior (session_id, seq, belief, regret_definition)
		SELECT ?1, max(seq), x'', 0 FROM answer WHERE session_id = ?1`},
}
