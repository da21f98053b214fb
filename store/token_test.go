package store_test

import (
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
)

// A token lets a program do what its scope says, in its session, until it expires or is
// revoked; the database never holds its text.
func TestTokens(t *testing.T) {
	db := open(t, t.TempDir())
	ctx := t.Context()
	must.Do(t, db.CreateSession(ctx, spec("s")))
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	a := auth.New(auth.Config{Store: db, Tokens: db, Now: func() time.Time { return now }})
	day := 24 * time.Hour

	for name, k := range map[string]identity.Token{
		"unknown scope": {Scope: "admin"}, "label without a session": {Scope: identity.ScopeLabel}, "two lines": {Scope: identity.ScopeRead, Name: "a\nb"},
	} {
		if _, _, err := a.NewToken(ctx, k, day, "test"); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, life := range []time.Duration{0, -day, 366 * day} {
		if _, _, err := a.NewToken(ctx, identity.Token{Scope: identity.ScopeRead}, life, "test"); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("life %v: %v", life, err)
		}
	}
	if _, _, err := a.NewToken(ctx, identity.Token{Scope: identity.ScopeRead, Session: "none"}, day, "test"); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("no such session: %v", err)
	}

	read, made, err := a.NewToken(ctx, identity.Token{Scope: identity.ScopeRead, Name: "notebook"}, day, "test")
	must.Do(t, err)
	label, bot, err := a.NewToken(ctx, identity.Token{Scope: identity.ScopeLabel, Session: "s", Name: "bot"}, 2*day, "test")
	must.Do(t, err)
	if !strings.HasPrefix(read, auth.TokenPrefix) || made.ID != 1 || bot.Annotator != "a1" {
		t.Errorf("made %q, %+v and %+v", read, made, bot)
	}
	want := func(what, token string, who auth.Actor) {
		t.Helper()
		if got, err := a.Program(ctx, token); err != nil || got != who {
			t.Errorf("%s: %+v, %v; want %+v", what, got, err, who)
		}
	}
	reader := auth.Actor{Role: auth.Program, Token: 1, Scope: identity.ScopeRead}
	labeller := auth.Actor{Role: auth.Program, Token: 2, Scope: identity.ScopeLabel, Session: "s", Annotator: "a1"}
	want("reader", read, reader)
	want("labeller", label, labeller)
	for _, token := range []string{"", "tbk_", read[4:], read + "x", "tbk_AAAAAAAAAAAAAAAAAAAAAA"} {
		want("no token", token, auth.Actor{})
	}
	now = now.Add(day)
	want("expired", read, auth.Actor{})
	want("not yet expired", label, labeller)
	must.Do(t, db.RevokeAnnotator(ctx, "s", "a1", false, "test", now))
	want("of an annotator who was removed", label, auth.Actor{})

	must.Do(t, db.RevokeToken(ctx, 2, "test", now))
	if err := db.RevokeToken(ctx, 9, "test", now); idrl.KindOf(err) != idrl.NotFound {
		t.Errorf("revoke a token that is not there: %v", err)
	}
	list, err := db.Tokens(ctx)
	must.Do(t, err)
	if len(list) != 2 || list[0].State(now) != "expired" || list[1].State(now) != "revoked" || list[0].Name != "notebook" {
		t.Errorf("tokens = %+v", list)
	}
}
