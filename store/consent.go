package store

import (
	"context"
	"fmt"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// SetConsent changes the consent text of a session, and returns the version that is in use then: a
// new one, unless nothing changes. With an empty text no consent is asked for. It returns an error
// of kind Invalid if the text is too long and of kind NotFound if there is no such session.
func (db participants) SetConsent(ctx context.Context, id idrl.SessionID, text, actor string, now time.Time) (version int64, err error) {
	if err := (idrl.Consent{Text: text}).Check(); err != nil {
		return 0, err
	}
	err = db.do(ctx, func(t *tx) error {
		spec, err := t.spec(id)
		if err != nil {
			return err
		}
		is := spec.CurrentConsent()
		version = is.Version
		if is.Text == text {
			return nil
		}
		version++
		if _, err := t.exec(`INSERT INTO consent (session_id, version, text, created_at) VALUES (?, ?, ?, ?)`, id, version, text, encodeTime(now)); err != nil {
			return err
		}
		return t.changed(now, id, actor, "set consent", fmt.Sprintf("version %d", version))
	})
	return version, err
}

// ConsentVersions returns all consent texts that a session has had, the first one first.
func (db participants) ConsentVersions(ctx context.Context, id idrl.SessionID) (out []idrl.Consent, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		out, err = consentVersions(ctx, from, id)
		return err
	})
	return out, err
}

func consentVersions(ctx context.Context, from querier, id idrl.SessionID) (out []idrl.Consent, err error) {
	var first idrl.SessionSpec
	row := from.QueryRowContext(ctx, `SELECT spec FROM session WHERE id = ?`, id)
	if err := row.Scan(specColumn{&first}); err != nil {
		return nil, missing(err, "there is no session %q", id)
	}
	if c := first.CurrentConsent(); c.Version > 0 {
		out = append(out, c)
	}
	err = each(ctx, from, func(row scanner) error {
		var c idrl.Consent
		err := row.Scan(&c.Version, &c.Text)
		out = append(out, c)
		return err
	}, `SELECT version, text FROM consent WHERE session_id = ? ORDER BY version`, id)
	return out, err
}

// Agree records that an annotator agrees to a version of the session's consent text; repeating it
// changes nothing. It returns an error of kind Conflict unless that is the version in use, and of
// kind NotFound if there is no such annotator.
func (db participants) Agree(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, version int64, now time.Time) error {
	return db.do(ctx, func(t *tx) error { return t.agree(session, who, version, now) })
}

func (t *tx) agree(session idrl.SessionID, who idrl.AnnotatorID, version int64, now time.Time) error {
	spec, err := t.spec(session)
	if err != nil {
		return err
	}
	if is := spec.CurrentConsent(); is.Text == "" || is.Version != version {
		return idrl.Errorf(idrl.Conflict, "The consent text has changed. Please read it again.")
	}
	const insert = `
		INSERT INTO agreement (session_id, annotator_id, version, agreed_at)
		SELECT session_id, id, ?, ? FROM annotator WHERE session_id = ? AND id = ? AND withdrawn_at IS NULL
		ON CONFLICT DO UPDATE SET version = version`
	n, err := t.exec(insert, version, encodeTime(now), session, who)
	if err == nil && n == 0 {
		err = idrl.Errorf(idrl.NotFound, "session %s has no annotator %q", session, who)
	}
	return err
}

// Consent returns the consent text in use of a session, and the latest version that an annotator
// has agreed to, 0 for none.
func (db participants) Consent(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (c idrl.Consent, agreed int64, err error) {
	err = db.snapshot(ctx, func(from querier) error {
		spec, err := readSpec(ctx, from, session)
		if err != nil {
			return err
		}
		c = spec.CurrentConsent()
		const query = `SELECT coalesce(max(version), 0) FROM agreement WHERE session_id = ? AND annotator_id = ?`
		return convert(from.QueryRowContext(ctx, query, session, who).Scan(&agreed))
	})
	return c, agreed, err
}

// Joined returns an annotator of a session, or an error of kind NotFound.
func (db participants) Joined(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID) (a identity.Annotator, err error) {
	const query = `SELECT id, name, created_at, withdrawn_at, erased_at FROM annotator WHERE session_id = ? AND id = ? AND id <> ''`
	err = db.read.QueryRowContext(ctx, query, session, who).Scan(&a.ID, nameColumn{&a.Name}, timeColumn{&a.JoinedAt}, timeColumn{&a.WithdrawnAt}, timeColumn{&a.ErasedAt})
	return a, missing(err, "session %s has no annotator %q", session, who)
}
