package store_test

import (
	"fmt"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// crowded is a database whose session s has a crowd link, and a function by which a participant
// signs in by it, some time after t0.
func crowded(t *testing.T) (*store.DB, func(participant, login string, after time.Duration) identity.Login) {
	t.Helper()
	db := seeded(t, t.TempDir())
	c := must.Get(identity.CrowdOf("prolific"))(t)
	must.Get(db.InviteCrowd(t.Context(), hash("link"), identity.Invitation{Session: "s", Uses: 5, CreatedAt: t0, ExpiresAt: t0.Add(1000 * time.Hour)}, c))(t)
	return db, func(participant, login string, after time.Duration) identity.Login {
		t.Helper()
		l := must.Get(db.SignInParticipant(t.Context(), hash("link"), hash(login), record.Participant{ID: participant}, limit, t0.Add(after)))(t)
		return l
	}
}

// A participant who comes back again and again has so many narrow logins and no more: those
// that were seen last, besides the login that they began with.
func TestNarrowLoginsAreBounded(t *testing.T) {
	db, signIn := crowded(t)
	if signIn("ada", "ada", 0).Narrow {
		t.Error("who begins has a narrow login")
	}
	signIn("bob", "bob", 0)
	signIn("bob", "bob again", 0)
	for i := range 5 {
		if l := signIn("ada", fmt.Sprint(i), time.Duration(i)*time.Minute); !l.Narrow {
			t.Errorf("who comes back has the login %+v", l)
		}
		if i == 2 {
			must.Do(t, db.Seen(t.Context(), hash("0"), t0.Add(time.Hour)))
		}
	}
	have := func(want map[string]bool) {
		t.Helper()
		for login, is := range want {
			if _, err := db.Login(t.Context(), hash(login)); (err == nil) != is {
				t.Errorf("login %s: %v, want it to be there: %t", login, err, is)
			}
		}
	}
	have(map[string]bool{"ada": true, "0": true, "1": false, "2": false, "3": true, "4": true, "bob": true, "bob again": true})
	signIn("ada", "late", limit.Idle+30*time.Minute)
	have(map[string]bool{"ada": false, "0": true, "3": false, "4": false, "late": true, "bob": true})
}

// A participant whose part has ended gets no login.
func TestRemovedParticipantHasNoLogin(t *testing.T) {
	db, signIn := crowded(t)
	who := signIn("ada", "ada", 0).Annotator
	must.Do(t, db.RevokeAnnotator(t.Context(), "s", who, false, "grace", t0))
	if l := signIn("ada", "again", time.Minute); l.Annotator != who || !l.Revoked {
		t.Errorf("who is removed comes back as %+v", l)
	}
	_, err := db.Login(t.Context(), hash("again"))
	wantKind(t, err, idrl.NotFound)
	if l, err := db.Login(t.Context(), hash("ada")); err != nil || l.Narrow || !l.Revoked {
		t.Errorf("the login that they began with is %+v, %v", l, err)
	}
}
