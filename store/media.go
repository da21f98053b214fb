package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"

	"tiebreak/internal/idrl"
)

// ClipMedia implements record.Journal.
func (db journal) ClipMedia(ctx context.Context, session idrl.SessionID, clip idrl.ClipID) ([]byte, error) {
	var media, sum []byte
	const query = `SELECT media, media_sum FROM clip WHERE session_id = ? AND id = ? AND media IS NOT NULL`
	if err := db.read.QueryRowContext(ctx, query, session, clip).Scan(&media, &sum); err != nil {
		return nil, missing(err, "session %s has no clip %q", session, clip)
	}
	if sum != nil && !matches(media, sum) {
		return nil, damagedClip(session, clip)
	}
	return media, nil
}

// ClipPlaces implements record.Journal. It reads no drawings.
func (db journal) ClipPlaces(ctx context.Context, session idrl.SessionID) (out []idrl.Clip, err error) {
	const query = `SELECT id, trajectory_id, start, steps FROM clip WHERE session_id = ? AND media IS NOT NULL ORDER BY id`
	err = each(ctx, db.read, func(row scanner) error {
		var c idrl.Clip
		err := row.Scan(&c.ID, &c.From, &c.Start, &c.Steps)
		out = append(out, c)
		return err
	}, query, session)
	return out, err
}

// PolicyClips returns the drawn forms of the clips of the policy that a clip of a session shows, in
// the order of their ids: all clips of its episodes. It returns an error of kind Damaged if one is
// not what was recorded.
func (db journal) PolicyClips(ctx context.Context, session idrl.SessionID, clip idrl.ClipID) (out [][]byte, err error) {
	const query = `
		SELECT other.id, other.media, other.media_sum
		FROM clip JOIN clip AS other ON other.session_id = clip.session_id
			AND (other.trajectory_id = clip.trajectory_id OR other.trajectory_id LIKE clip.trajectory_id || '.%')
		WHERE clip.session_id = ? AND clip.id = ? AND other.media IS NOT NULL ORDER BY other.id`
	err = each(ctx, db.read, func(row scanner) error {
		var id idrl.ClipID
		var media, sum []byte
		if err := row.Scan(&id, &media, &sum); err != nil {
			return err
		}
		if sum != nil && !matches(media, sum) {
			return damagedClip(session, id)
		}
		out = append(out, media)
		return nil
	}, query, session, clip)
	return out, err
}

// damagedClip says that the media of a clip are not what was recorded.
func damagedClip(session idrl.SessionID, clip idrl.ClipID) error {
	return fmt.Errorf("clip %s of session %s: %w", clip, session,
		idrl.Errorf(idrl.Damaged, "this clip is damaged in the database, so it is not shown; the answers about it are not touched"))
}

// mediaSum returns the value of the column media_sum for media, nil for none.
func mediaSum(media []byte) []byte {
	if media == nil {
		return nil
	}
	sum := sha256.Sum256(media)
	return sum[:]
}

func matches(media, sum []byte) bool {
	return subtle.ConstantTimeCompare(mediaSum(media), sum) == 1
}

// notAClip is the sum of a clip of an earlier format whose media was damaged before
// sums were kept. No media has it.
var notAClip = make([]byte, sha256.Size)

// A clipRow is a clip as eachClips reads it.
type clipRow struct {
	rowid   int64
	session idrl.SessionID
	clip    idrl.Clip
	sum     []byte // as recorded; nil if it has none yet
}

// clipBatch is the number of clips that one read of eachClips takes, so that the write-ahead log
// can be merged in between.
const clipBatch = 100

// eachClips calls f with every clip that has media, some at a time.
func eachClips(ctx context.Context, from querier, f func([]clipRow) error) error {
	const query = `
		SELECT rowid, session_id, id, steps, phi, media, media_sum FROM clip
		WHERE rowid > ? AND media IS NOT NULL ORDER BY rowid LIMIT ?`
	for last, more := int64(0), true; more; {
		var batch []clipRow
		err := each(ctx, from, func(row scanner) error {
			var r clipRow
			err := row.Scan(&r.rowid, &r.session, &r.clip.ID, &r.clip.Steps, vectorColumn{&r.clip.Phi}, &r.clip.Media, &r.sum)
			batch = append(batch, r)
			return err
		}, query, last, clipBatch)
		if err != nil {
			return fmt.Errorf("clips after row %d: %w", last, err)
		}
		if err := f(batch); err != nil {
			return err
		}
		if more = len(batch) == clipBatch; more {
			last = batch[len(batch)-1].rowid
		}
	}
	return nil
}

// seal records the checksums of clips that have none.
func (db *upkeep) seal(ctx context.Context, clips []clipRow) error {
	return db.do(ctx, func(t *tx) error {
		for _, r := range clips {
			if _, err := t.exec(`UPDATE clip SET media_sum = ? WHERE rowid = ? AND media_sum IS NULL`, r.sum, r.rowid); err != nil {
				return err
			}
		}
		return nil
	})
}
