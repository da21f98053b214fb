package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// beforeChainKey is the key in meta of the position of the last row of the audit trail from before rows had hashes.
const beforeChainKey = "audit before chain"

// chainedKey is the key in meta that is set once these rows have hashes.
const chainedKey = "audit chained"

// chainAct is the action of the row that commits to the rows from before, once all of them have hashes.
const chainAct = "chain audit"

// A chainEnd is the last row of a chain.
type chainEnd struct {
	position int64
	hash     []byte
}

// An auditRow is a row of the audit trail as the database has it.
type auditRow struct {
	position                          int64
	at, session, actor, action, thing string
	salt, actorSum, objectSum, hash   []byte
}

// sumOf commits to a field that may be erased later. Without the salt nobody can find the value by guessing.
func sumOf(salt []byte, field, value string) []byte {
	b := append(make([]byte, 0, 128), salt...)
	b = append(append(append(b, field...), 0), value...)
	s := sha256.Sum256(b)
	return s[:]
}

// seal gives r a salt, the sums and the hash that follows prev.
func (r *auditRow) seal(prev []byte) {
	r.salt = make([]byte, 16)
	_, _ = rand.Read(r.salt) // never fails; see crypto/rand
	r.actorSum, r.objectSum = sumOf(r.salt, "actor", r.actor), sumOf(r.salt, "object", r.thing)
	r.hash = r.after(prev)
}

// after returns the hash of r in a chain after prev.
func (r *auditRow) after(prev []byte) []byte {
	b := append(make([]byte, 0, 256), prev...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.position))
	for _, s := range []string{r.at, r.session, r.action} {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	b = append(append(b, r.actorSum...), r.objectSum...)
	s := sha256.Sum256(b)
	return s[:]
}

// chainStart is what the row after a position follows, if that row begins a chain.
func chainStart(position int64) []byte {
	s := sha256.Sum256(fmt.Appendf(nil, "tiebreak audit after %d", position))
	return s[:]
}

// audit records an act: actor, action and object, in the transaction of the act.
func (t *tx) audit(at time.Time, id idrl.SessionID, actor, action, object string) error {
	if t.head == nil { // once in a transaction: commands beside the server write rows, too
		if err := t.findHead(); err != nil {
			return err
		}
	}
	r := auditRow{position: t.head.position + 1, at: encodeTime(at), session: string(id), actor: actor, action: action, thing: object}
	r.seal(t.head.hash)
	const insert = `
		INSERT INTO audit (id, at, session_id, actor, action, object, salt, actor_sum, object_sum, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	if _, err := t.exec(insert, r.position, r.at, null(id), actor, action, object, r.salt, r.actorSum, r.objectSum, r.hash); err != nil {
		return err
	}
	t.head = &chainEnd{r.position, r.hash}
	return nil
}

func (t *tx) findHead() error {
	head := chainEnd{hash: chainStart(0)}
	var before bool
	const last = `SELECT id, hash, id <= (SELECT CAST(value AS INTEGER) FROM meta WHERE key = '` + beforeChainKey + `') FROM audit ORDER BY id DESC LIMIT 1`
	err := t.row(last).Scan(&head.position, &head.hash, &before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if before {
		head.hash = chainStart(head.position)
	}
	t.head = &head
	return nil
}

// chainRows is how many rows of an earlier version get their hashes in one write.
const chainRows = 200

// chainOld gives the rows of an earlier version their hashes, some at a time, until ctx is done or all have them.
func (db *upkeep) chainOld(ctx context.Context) error {
	text, err := db.Meta(ctx, beforeChainKey)
	if err != nil {
		return err
	}
	last, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	done, err := db.Meta(ctx, chainedKey)
	if err != nil || done != "" || last == 0 {
		return err
	}
	end := chainEnd{hash: chainStart(0)}
	const chained = `SELECT id, hash FROM audit WHERE id < coalesce((SELECT min(id) FROM audit WHERE hash IS NULL), ?1 + 1) AND id <= ?1 ORDER BY id DESC LIMIT 1`
	err = db.read.QueryRowContext(ctx, chained, last).Scan(&end.position, &end.hash)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	for done := false; !done && err == nil; {
		var next chainEnd
		err = db.do(ctx, func(t *tx) (err error) {
			next, done, err = t.chainSome(end, last)
			return err
		})
		end = next
	}
	return convert(err)
}

// chainSome is a step of chainOld, for rows after end up to last. It returns the last row that has a hash, and reports whether all have.
func (t *tx) chainSome(end chainEnd, last int64) (_ chainEnd, done bool, err error) {
	for range chainRows {
		r := auditRow{}
		const next = `SELECT id, at, coalesce(session_id, ''), actor, action, object FROM audit WHERE id > ? AND id <= ? ORDER BY id LIMIT 1`
		err := t.row(next, end.position, last).Scan(&r.position, &r.at, &r.session, &r.actor, &r.action, &r.thing)
		if errors.Is(err, sql.ErrNoRows) {
			if _, err := t.exec(`INSERT INTO meta (key, value) VALUES (?, 'yes')`, chainedKey); err != nil {
				return end, false, err
			}
			return end, true, t.audit(time.Now(), "", "", chainAct, oldChain(last, end.hash))
		}
		if err != nil {
			return end, false, err
		}
		r.seal(end.hash)
		const update = `UPDATE audit SET salt = ?, actor_sum = ?, object_sum = ?, hash = ? WHERE id = ?`
		if _, err := t.exec(update, r.salt, r.actorSum, r.objectSum, r.hash, r.position); err != nil {
			return end, false, err
		}
		end = chainEnd{r.position, r.hash}
	}
	return end, false, nil
}

// oldChain is the object of the row that commits to the rows of an earlier version.
func oldChain(last int64, hash []byte) string {
	return fmt.Sprintf("rows up to %d end with %x", last, hash)
}

// AuditTrail yields rows of the audit trail, the last one first.
func (db studies) AuditTrail(ctx context.Context, f record.AuditFilter, yield func(record.AuditEntry) error) error {
	where, args, from := []string{"1"}, []any{}, "audit"
	add := func(condition string, arg any) { where, args = append(where, condition), append(args, arg) }
	if f.Session != "" {
		add("session_id = ?", f.Session)
	}
	if f.Actor != "" {
		add("actor = ?", f.Actor)
	}
	if f.Action != "" {
		add("action = ?", f.Action)
	}
	if f.Before > 0 {
		add("id < ?", f.Before)
	}
	if f.Action == "" && !f.Answers {
		where = append(where, "action NOT IN ('answer', 'withdraw')")
		if f.Session == "" {
			from += " INDEXED BY audit_deeds"
		}
	}
	if f.Limit <= 0 {
		f.Limit = -1
	}
	query := `SELECT id, at, coalesce(session_id, ''), actor, action, object, salt IS x'', lower(hex(hash)) FROM ` + from +
		` WHERE ` + strings.Join(where, " AND ") + ` ORDER BY id DESC LIMIT ?`
	return each(ctx, db.read, func(row scanner) error {
		var e record.AuditEntry
		if err := row.Scan(&e.Position, timeColumn{&e.At}, &e.Session, &e.Actor, &e.Action, &e.Object, &e.Erased, &e.Hash); err != nil {
			return err
		}
		return yield(e)
	}, query, append(args, f.Limit)...)
}

// VerifyAudit checks the hashes of the audit trail from one read of the database. kept is a head that was printed earlier; its zero
// value is none. It returns an error of kind Damaged that names the first row that does not fit.
func (db studies) VerifyAudit(ctx context.Context, kept record.AuditHead) (c record.AuditCheck, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		v := auditVerifier{kept: kept, prev: chainStart(0)}
		err := from.QueryRowContext(ctx, `SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?`, beforeChainKey).Scan(&v.before)
		if err != nil {
			return missing(err, "the audit trail does not say where its hashes begin")
		}
		const query = `SELECT id, at, coalesce(session_id, ''), actor, action, object, salt, actor_sum, object_sum, hash,
			salt IS x'' AND EXISTS (SELECT 1 FROM annotator WHERE annotator.session_id = audit.session_id AND withdrawn_at IS NOT NULL) FROM audit ORDER BY id`
		err = each(ctx, from, func(row scanner) error {
			var r auditRow
			var withdrew bool
			if err := row.Scan(&r.position, &r.at, &r.session, &r.actor, &r.action, &r.thing, &r.salt, &r.actorSum, &r.objectSum, &r.hash, &withdrew); err != nil {
				return err
			}
			return v.take(r, withdrew)
		}, query)
		if err == nil {
			c, err = v.end()
		}
		return err
	})
	return c, err
}

// An auditVerifier takes the rows of an audit trail in order.
type auditVerifier struct {
	kept   record.AuditHead
	before int64 // position of the last row of an earlier version
	prev   []byte
	check  record.AuditCheck

	seen, joined bool   // the row that was kept, and the one that commits to the old rows
	old          []byte // hash of the last old row
}

func (v *auditVerifier) take(r auditRow, withdrew bool) error {
	bad := func(what string) error {
		return idrl.Errorf(idrl.Damaged, "row %d of the audit trail (%s, %q) does not fit: %s", r.position, r.at, r.action, what)
	}
	if r.position > v.before && v.check.Head.Position <= v.before && v.before > 0 {
		v.prev = chainStart(v.before)
	}
	v.check.Rows++
	v.check.Head = record.AuditHead{Position: r.position, Hash: hex.EncodeToString(r.hash)}
	if r.hash == nil && r.position <= v.before {
		v.check.Waiting++
		return nil
	}
	switch {
	case r.hash == nil:
		return bad("it has no hash")
	case v.check.Waiting > 0 && r.position <= v.before:
		return bad("the row before it has no hash")
	case len(r.salt) > 0 && (string(sumOf(r.salt, "actor", r.actor)) != string(r.actorSum) || string(sumOf(r.salt, "object", r.thing)) != string(r.objectSum)):
		return bad("its actor or its object was changed")
	case len(r.salt) == 0 && (r.actor != "" || r.thing != "" || !withdrew):
		return bad("it was emptied, and not by a withdrawal of data")
	case string(r.after(v.prev)) != string(r.hash):
		return bad("it was changed, or a row before it was removed or inserted")
	}
	if len(r.salt) == 0 {
		v.check.Erased++
	}
	v.prev = r.hash
	if r.position <= v.before {
		v.old = r.hash
	}
	if r.action == chainAct && !v.joined {
		if v.joined = true; v.check.Waiting > 0 || r.thing != oldChain(v.before, v.old) {
			return bad("the rows of an earlier version are not those that it names")
		}
	}
	if r.position == v.kept.Position {
		if v.seen = true; !strings.EqualFold(v.kept.Hash, v.check.Head.Hash) {
			return bad("its hash is not the one that was kept")
		}
	}
	return nil
}

func (v *auditVerifier) end() (record.AuditCheck, error) {
	if v.kept.Position > 0 && !v.seen {
		return v.check, idrl.Errorf(idrl.Damaged, "row %d of the audit trail, whose hash was kept, is not there: rows were removed from its end", v.kept.Position)
	}
	return v.check, nil
}
