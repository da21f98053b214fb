package store

import (
	"context"
	"time"

	"tiebreak/internal/idrl"
)

// MaxPresets is how many presets an account may keep.
const MaxPresets = 50

// SavePreset keeps a study file under a name for an account, in place of one that is there. It returns
// an error of kind Conflict if the account has too many, and of kind NotFound if there is no such
// account.
func (db researching) SavePreset(ctx context.Context, user, name string, file []byte, now time.Time) error {
	return db.do(ctx, func(t *tx) error {
		var others int
		if err := t.row(`SELECT count(*) FROM preset WHERE user_id = ? AND name <> ?`, user, name).Scan(&others); err != nil {
			return convert(err)
		}
		if others >= MaxPresets {
			return idrl.Errorf(idrl.Conflict, "you have %d presets, which is the limit; delete one", others)
		}
		const put = `INSERT INTO preset (user_id, name, file, at) VALUES (?, ?, ?, ?)
			ON CONFLICT (user_id, name) DO UPDATE SET file = excluded.file, at = excluded.at`
		_, err := t.exec(put, user, name, string(file), encodeTime(now))
		return dangling(err, "there is no account %q", user)
	})
}

// Preset returns the study file that an account keeps under a name, or an error of kind NotFound.
func (db researching) Preset(ctx context.Context, user, name string) ([]byte, error) {
	var file string
	err := db.read.QueryRowContext(ctx, `SELECT file FROM preset WHERE user_id = ? AND name = ?`, user, name).Scan(&file)
	return []byte(file), missing(err, "you have no preset %q", name)
}

// Presets returns the names of an account's presets, in order.
func (db researching) Presets(ctx context.Context, user string) (out []string, err error) {
	err = each(ctx, db.read, func(row scanner) error {
		var name string
		err := row.Scan(&name)
		out = append(out, name)
		return err
	}, `SELECT name FROM preset WHERE user_id = ? ORDER BY name`, user)
	return out, err
}

// DeletePreset deletes a preset of an account; there may be none of that name.
func (db researching) DeletePreset(ctx context.Context, user, name string) error {
	return db.do(ctx, func(t *tx) error {
		_, err := t.exec(`DELETE FROM preset WHERE user_id = ? AND name = ?`, user, name)
		return err
	})
}
