package store_test

import (
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/people/auth/authtest"
)

func TestAuth(t *testing.T) {
	authtest.Run(t, func(t *testing.T) authtest.Store {
		db := open(t, t.TempDir())
		must.Do(t, db.CreateSession(t.Context(), spec("s")))
		must.Do(t, db.CreateSession(t.Context(), spec("t")))
		return db
	})
}
