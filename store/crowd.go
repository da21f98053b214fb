package store

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// crowdKey is the key in meta of the secret with which ids of crowd platforms are hashed and
// receipts of withdrawals are made. It is made when it is first needed.
const crowdKey = "crowd_key"

func (t *tx) makeCrowdKey() error {
	_, err := t.exec(`INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING`, crowdKey, rand.Text())
	return err
}

// InviteCrowd is Invite for a link from a crowd platform.
func (db access) InviteCrowd(ctx context.Context, hash []byte, i identity.Invitation, c identity.Crowd) (id int64, err error) {
	if err := c.Check(); err != nil {
		return 0, err
	}
	b, err := json.Marshal(c)
	if err != nil {
		return 0, err
	}
	if id, err = db.Invite(ctx, hash, i); err != nil {
		return 0, err
	}
	return id, db.do(ctx, func(t *tx) error {
		if err := t.makeCrowdKey(); err != nil {
			return err
		}
		_, err := t.exec(`UPDATE invitation SET crowd = ? WHERE hash = ?`, string(b), hash)
		return err
	})
}

// Crowd returns the session of a crowd link and its Crowd, also if it is used up: participants who
// came by it can come back. It returns an error of kind NotFound if it is not a crowd link, has
// expired or is revoked.
func (db participants) Crowd(ctx context.Context, hash []byte, now time.Time) (session idrl.SessionID, c identity.Crowd, err error) {
	var text string
	const query = `
		SELECT session_id, crowd FROM invitation
		WHERE hash = ? AND crowd IS NOT NULL AND revoked_at IS NULL AND expires_at > ?`
	if err := db.read.QueryRowContext(ctx, query, hash, encodeTime(now)).Scan(&session, &text); err != nil {
		return "", c, missing(err, "there is no such crowd link")
	}
	return session, c, json.Unmarshal([]byte(text), &c)
}

// CrowdOf returns the crowd platform by which an annotator came; the zero Crowd if there is none.
func (db participants) CrowdOf(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (c identity.Crowd, err error) {
	var text string
	const query = `
		SELECT crowd FROM invitation JOIN annotator ON annotator.invitation_id = invitation.id
		WHERE annotator.session_id = ? AND annotator.id = ? AND crowd IS NOT NULL`
	err = db.read.QueryRowContext(ctx, query, session, who).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil
	}
	if err != nil {
		return c, convert(err)
	}
	return c, json.Unmarshal([]byte(text), &c)
}

// Participates reports whether the annotator is p, who came by a link of c.
func (db participants) Participates(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, c identity.Crowd, p record.Participant) (is bool, err error) {
	key, err := db.Meta(ctx, crowdKey)
	if err != nil {
		return false, err
	}
	const query = `SELECT EXISTS (SELECT 1 FROM participant WHERE session_id = ? AND annotator_id = ? AND participant = ?)`
	err = db.read.QueryRowContext(ctx, query, session, who, kept(key, c, p).ID).Scan(&is)
	return is, convert(err)
}

// kept returns the recorded form of p.
func kept(key string, c identity.Crowd, p record.Participant) record.Participant {
	if c.AsGiven {
		return p
	}
	p.ID = keyed(key, "participant", p.ID)
	if p.Submission != "" {
		p.Submission = keyed(key, "submission", p.Submission)
	}
	return p
}

// former returns the record of a participant of a session who withdrew: the same whether the id was
// kept as given or as a hash. Rows of exports cannot be found with it, because they have another
// hash.
func former(key string, session idrl.SessionID, c identity.Crowd, p record.Participant) string {
	c.AsGiven = false
	return formerOf(key, session, kept(key, c, p).ID)
}

func formerOf(key string, session idrl.SessionID, hashed string) string {
	return keyed(key, "withdrawn", string(session)+"\x00"+hashed)
}

// keepFormer records that the participant of an annotator, if there is one, withdraws.
func (t *tx) keepFormer(session idrl.SessionID, who idrl.AnnotatorID) error {
	var text, key string
	var c identity.Crowd
	var p record.Participant
	const find = `
		SELECT participant.participant, coalesce(crowd, '{}'), (SELECT value FROM meta WHERE key = '` + crowdKey + `')
		FROM participant JOIN annotator ON annotator.session_id = participant.session_id AND annotator.id = annotator_id
		LEFT JOIN invitation ON invitation.id = invitation_id
		WHERE participant.session_id = ? AND annotator_id = ?`
	err := t.row(find, session, who).Scan(&p.ID, &text, &key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &c)
	}
	if err != nil {
		return err
	}
	hash := formerOf(key, session, p.ID)
	if c.AsGiven {
		hash = former(key, session, c, p)
	}
	_, err = t.exec(`INSERT INTO former (session_id, participant) VALUES (?, ?) ON CONFLICT DO NOTHING`, session, hash)
	return err
}

// Withdrew reports whether p, who comes by a link of c, has withdrawn their data from a session.
func (db participants) Withdrew(ctx context.Context, session idrl.SessionID, c identity.Crowd, p record.Participant) (did bool, err error) {
	key, err := db.Meta(ctx, crowdKey)
	if err != nil {
		return false, err
	}
	err = db.read.QueryRowContext(ctx, isFormer, session, former(key, session, c, p)).Scan(&did)
	return did, convert(err)
}

const isFormer = `SELECT EXISTS (SELECT 1 FROM former WHERE session_id = ? AND participant = ?)`

func keyed(key, what, id string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(what + "\x00" + id))
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// SignInParticipant signs p in by a crowd link, and records the login whose cookie has the SHA-256
// login. A known participant continues as the same annotator, with a login that is Narrow, and does
// not use up the link; otherwise an annotator is added. Other logins of theirs end as limit says.
// For an annotator whose part has ended it records no login, and returns one that is Revoked. It
// returns record.ErrWithdrew if the participant has withdrawn their data, and an error of kind
// NotFound if the link is not valid.
func (db participants) SignInParticipant(ctx context.Context, link, login []byte, p record.Participant, limit identity.LoginLimit, now time.Time) (l identity.Login, err error) {
	l.Since, l.SeenAt = now, now
	err = db.do(ctx, func(t *tx) error {
		var c identity.Crowd
		var crowd, key string
		var left int
		const find = `
			SELECT session_id, crowd, uses_left, (SELECT value FROM meta WHERE key = '` + crowdKey + `') FROM invitation
			WHERE hash = ? AND crowd IS NOT NULL AND revoked_at IS NULL AND expires_at > ?`
		if err := t.row(find, link, encodeTime(now)).Scan(&l.Session, &crowd, &left, &key); err != nil {
			return missing(err, "the invitation is not valid")
		}
		if err := json.Unmarshal([]byte(crowd), &c); err != nil {
			return err
		}
		var gone bool
		if err := t.row(isFormer, l.Session, former(key, l.Session, c, p)).Scan(&gone); err != nil || gone {
			return cmp.Or(err, record.ErrWithdrew)
		}
		p := kept(key, c, p)
		const known = `
			SELECT annotator_id, revoked_at IS NOT NULL FROM participant
			JOIN annotator ON annotator.session_id = participant.session_id AND annotator.id = annotator_id
			WHERE participant.session_id = ? AND participant = ?`
		err := t.row(known, l.Session, p.ID).Scan(&l.Annotator, &l.Revoked)
		switch {
		case err == nil:
			if l.Narrow = true; l.Revoked {
				return nil
			}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		case left < 1:
			return idrl.Errorf(idrl.NotFound, "the invitation is used up")
		default:
			if l.Annotator, err = t.addParticipant(link, l.Session, p, now); err != nil {
				return err
			}
		}
		if err := t.addLogin(login, l, limit); err != nil {
			return err
		}
		return t.audit(now, l.Session, string(l.Annotator), "sign in", "")
	})
	return l, err
}

// addParticipant adds an annotator who came by a crowd link, and uses it once.
func (t *tx) addParticipant(link []byte, session idrl.SessionID, p record.Participant, now time.Time) (who idrl.AnnotatorID, err error) {
	if _, err := t.exec(`UPDATE invitation SET uses_left = uses_left - 1 WHERE hash = ?`, link); err != nil {
		return "", err
	}
	if who, err = t.createAnnotator(session, "", now); err != nil {
		return "", err
	}
	const joined = `UPDATE annotator SET invitation_id = (SELECT id FROM invitation WHERE hash = ?) WHERE session_id = ? AND id = ?`
	if _, err := t.exec(joined, link, session, who); err != nil {
		return "", err
	}
	const insert = `INSERT INTO participant (session_id, annotator_id, participant, study, submission) VALUES (?, ?, ?, ?, ?)`
	_, err = t.exec(insert, session, who, p.ID, p.Study, p.Submission)
	return who, err
}

// Participants returns the participants from crowd platforms, as recorded.
func (db participants) Participants(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]record.Participant, error) {
	out := map[idrl.AnnotatorID]record.Participant{}
	err := each(ctx, db.read, func(row scanner) error {
		var who idrl.AnnotatorID
		var p record.Participant
		err := row.Scan(&who, &p.ID, &p.Study, &p.Submission)
		out[who] = p
		return err
	}, `SELECT annotator_id, participant, study, submission FROM participant WHERE session_id = ?`, session)
	return out, err
}
