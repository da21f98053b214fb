package store

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
)

// SetCard changes what data cards and reports say of a session. It returns an error of kind Invalid if a text cannot be shown,
// and of kind NotFound if there is no such session.
func (db studies) SetCard(ctx context.Context, id idrl.SessionID, card idrl.DataCard, actor string, now time.Time) error {
	if err := card.Check(); err != nil {
		return err
	}
	return db.do(ctx, func(t *tx) error {
		spec, err := t.spec(id)
		if err != nil || spec.Card() == card {
			return err
		}
		const set = `UPDATE session SET spec = json_set(spec, '$.Authors', ?, '$.Licence', ?, '$.Recruitment', ?, '$.Payment', ?) WHERE id = ?`
		if _, err := t.exec(set, card.Authors, card.Licence, card.Recruitment, card.Payment, id); err != nil {
			return err
		}
		return t.changed(now, id, actor, "set data card", "")
	})
}
