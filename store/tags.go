package store

import (
	"context"
	"strings"
	"time"

	"tiebreak/internal/idrl"
)

// SetTags changes the tags of a session, a text that separates them by commas. It returns an error of kind Invalid if they cannot
// be shown, and of kind NotFound if there is no such session.
func (db studies) SetTags(ctx context.Context, id idrl.SessionID, text, actor string, now time.Time) error {
	if err := idrl.CheckTags(text); err != nil {
		return err
	}
	text = strings.Join(idrl.Tags(text), ", ")
	return db.do(ctx, func(t *tx) error {
		spec, err := t.spec(id)
		if err != nil || spec.Tags == text {
			return err
		}
		if _, err := t.exec(`UPDATE session SET spec = json_set(spec, '$.Tags', ?) WHERE id = ?`, text, id); err != nil {
			return err
		}
		return t.changed(now, id, actor, "set tags", text)
	})
}
