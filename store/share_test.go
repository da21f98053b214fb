package store_test

import (
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
)

// TestShares: a session is its maker's, who can give others rights, and give it away.
func TestShares(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	must.Do(t, db.AddUser(ctx, "grace", identity.Researcher, t0)) // the first one is an admin
	must.Do(t, db.AddUser(ctx, "hopper", identity.Researcher, t0))
	must.Do(t, db.AddUser(ctx, "vi", identity.Viewer, t0))
	must.Do(t, db.CreateSessionOf(ctx, spec("mine"), "grace"))
	give := func(user string, right identity.Right) error {
		return db.Share(ctx, identity.Share{Session: "mine", User: user, Right: right}, "grace", t0)
	}
	holds := func(want map[string]identity.Right) {
		t.Helper()
		list := must.Get(db.Shares(ctx, "mine"))(t)
		got := map[string]identity.Right{}
		for _, s := range list {
			got[s.User] = s.Right
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		for _, user := range []string{"grace", "hopper", "vi", "nobody"} {
			right, err := db.Right(ctx, "mine", user)
			all, err2 := db.Shared(ctx, user)
			if err != nil || err2 != nil || right != want[user] || all["mine"] != want[user] {
				t.Errorf("right of %s: %q, %v; of all sessions %v, %v; want %q", user, right, err, all, err2, want[user])
			}
		}
	}
	holds(map[string]identity.Right{"grace": "own"})
	if right, err := db.Right(ctx, "s", "grace"); right != identity.NoRight || err != nil {
		t.Errorf("right in a session of nobody: %q, %v", right, err)
	}
	_, err := db.Right(ctx, "gone", "grace")
	wantKind(t, err, idrl.NotFound)
	before, err := db.Changes(ctx)
	must.Do(t, err)
	must.Do(t, give("hopper", identity.RightView))
	must.Do(t, give("hopper", identity.RightExport))
	must.Do(t, give("vi", identity.RightChange))
	holds(map[string]identity.Right{"grace": "own", "hopper": "export", "vi": "change"})
	wantKind(t, give("grace", identity.RightView), idrl.Conflict)
	wantKind(t, give("grace", identity.NoRight), idrl.Conflict)
	wantKind(t, give("vi", identity.RightOwn), idrl.Conflict)
	wantKind(t, give("nobody", identity.RightView), idrl.NotFound)
	wantKind(t, db.Share(ctx, identity.Share{Session: "gone", User: "vi", Right: identity.RightView}, "grace", t0), idrl.NotFound)
	must.Do(t, give("hopper", identity.RightOwn))
	must.Do(t, give("vi", identity.NoRight))
	must.Do(t, give("vi", identity.NoRight))
	holds(map[string]identity.Right{"hopper": "own", "grace": "change"})
	if after, err := db.Changes(ctx); err != nil || after != before+5 { // a running server notices each
		t.Errorf("changes %d after %d, %v; want 5 more", after, before, err)
	}
}

// TestAccounts: the first account is an admin, and one is always left. A revoked one cannot sign in,
// its tokens are worthless, and a role restores it.
func TestAccounts(t *testing.T) {
	db := seeded(t, t.TempDir())
	ctx := t.Context()
	must.Do(t, db.AddUser(ctx, "grace", identity.Viewer, t0))
	must.Do(t, db.AddUser(ctx, "hopper", identity.Viewer, t0))
	wantKind(t, db.RevokeUser(ctx, "grace", "grace", t0), idrl.Conflict)
	wantKind(t, db.SetRole(ctx, "grace", identity.Viewer, "grace", t0), idrl.Conflict)
	wantKind(t, db.SetRole(ctx, "nobody", identity.Admin, "grace", t0), idrl.NotFound)
	wantKind(t, db.RevokeUser(ctx, "nobody", "grace", t0), idrl.NotFound)
	must.Do(t, db.SetRole(ctx, "hopper", identity.Admin, "grace", t0))

	must.Do(t, db.SetPassword(ctx, "grace", "a hash", t0))
	if hash, err := db.Password(ctx, "grace"); hash != "a hash" || err != nil {
		t.Errorf("password %q, %v", hash, err)
	}
	_, err := db.SignInAccount(ctx, "grace", "an earlier hash", hash("one"), limit, t0)
	wantKind(t, err, idrl.Conflict)
	if l, err := db.SignInAccount(ctx, "grace", "a hash", hash("two"), limit, t0); err != nil || l.Role != identity.Admin {
		t.Errorf("sign-in: %+v, %v", l, err)
	}
	_, err = db.AddToken(ctx, hash("token"), identity.Token{Scope: identity.ScopeRead, User: "grace", CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)}, "grace")
	must.Do(t, err)
	invite := func() error {
		_, err := db.Invite(ctx, hash("link"), identity.Invitation{User: "grace", Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
		return err
	}
	live := func(want bool) {
		t.Helper()
		k, err := db.Token(ctx, hash("token"))
		if err != nil || k.Live(t0) != want || k.User != "grace" || k.Role != identity.Admin && want {
			t.Errorf("token %+v, %v; want live: %t", k, err, want)
		}
	}
	live(true)
	must.Do(t, db.RevokeUser(ctx, "grace", "hopper", t0))
	live(false)
	_, err = db.Login(ctx, hash("two"))
	wantKind(t, err, idrl.NotFound)
	if hash, err := db.Password(ctx, "grace"); hash != "" || err != nil {
		t.Errorf("password of a revoked account %q, %v", hash, err)
	}
	wantKind(t, invite(), idrl.Conflict)
	wantKind(t, db.AddUser(ctx, "grace", identity.Viewer, t0), idrl.Conflict)
	wantKind(t, db.SetPassword(ctx, "grace", "x", t0), idrl.Conflict)
	must.Do(t, db.SetRole(ctx, "grace", identity.Admin, "hopper", t0))
	must.Do(t, invite())
	live(true)
}
