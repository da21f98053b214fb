package auth_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/auth/authtest"
)

// A clock stands until it is moved.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// service returns an Auth with sessions "s" and "t".
func service(t *testing.T) (*auth.Auth, *clock, *authtest.Memory) {
	t.Helper()
	db := authtest.NewMemory("s", "t")
	c := &clock{time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
	return auth.New(auth.Config{Store: db, Now: c.Now}), c, db
}

func wantKind(t *testing.T, what string, err error, k idrl.Kind) {
	t.Helper()
	if err == nil || idrl.KindOf(err) != k {
		t.Errorf("%s: error = %v (kind %d), want kind %d", what, err, idrl.KindOf(err), k)
	}
}

func TestResearcherLinkWorksOnce(t *testing.T) {
	a, _, _ := service(t)
	ctx := t.Context()
	token, err := a.NewResearcherLink(ctx, "  grace ")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // looking uses nothing up
		if user, err := a.PeekResearcher(ctx, token); err != nil || user != "grace" {
			t.Errorf("peek: %q, %v", user, err)
		}
	}
	_, err = a.PeekInvitation(ctx, token)
	wantKind(t, "as an invitation", err, idrl.NotFound)
	_, _, err = a.Redeem(ctx, token, "")
	wantKind(t, "as an invitation", err, idrl.NotFound)

	want := auth.Actor{Role: auth.Admin, User: "grace"} // the first account
	who, cookie, err := a.RedeemResearcher(ctx, token)
	if err != nil || who != want {
		t.Errorf("redeem: %v, %v", who, err)
	}
	if got, err := a.Actor(ctx, cookie); err != nil || got != want {
		t.Errorf("actor: %v, %v", got, err)
	}
	_, _, err = a.RedeemResearcher(ctx, token)
	wantKind(t, "second time", err, idrl.NotFound)

	again, err := a.NewResearcherLink(ctx, "grace")
	if err != nil || again == token {
		t.Errorf("a second link: %q, %v", again, err)
	}
}

func TestInvitation(t *testing.T) {
	a, _, _ := service(t)
	ctx := t.Context()
	token, err := a.NewInvitation(ctx, "s", 2, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := a.PeekInvitation(ctx, token); err != nil || id != "s" {
		t.Errorf("peek: %q, %v", id, err)
	}
	_, err = a.PeekResearcher(ctx, token)
	wantKind(t, "as a sign-in link", err, idrl.NotFound)
	_, _, err = a.RedeemResearcher(ctx, token)
	wantKind(t, "as a sign-in link", err, idrl.NotFound)
	_, _, err = a.Redeem(ctx, token, "two\nlines")
	wantKind(t, "bad name", err, idrl.Invalid)
	_, _, err = a.Redeem(ctx, token, "Ada\u202Eecila")
	wantKind(t, "a name that turns the direction of text", err, idrl.Invalid)
	for _, id := range []idrl.AnnotatorID{"a1", "a2"} {
		want := auth.Actor{Role: auth.Annotator, Session: "s", Annotator: id}
		who, cookie, err := a.Redeem(ctx, token, "Ada")
		if err != nil || who != want {
			t.Errorf("redeem: %v, %v; want %v", who, err, want)
		}
		if got, err := a.Actor(ctx, cookie); err != nil || got != want {
			t.Errorf("actor: %v, %v", got, err)
		}
	}
	_, _, err = a.Redeem(ctx, token, "Eve")
	wantKind(t, "used up", err, idrl.NotFound)
}

// The last use of a link goes to one of those who come at once.
func TestLastUseIsNotShared(t *testing.T) {
	a, _, db := service(t)
	token, err := a.NewInvitation(t.Context(), "s", 3, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	let := make(chan auth.Actor, 20)
	for range cap(let) {
		wg.Go(func() {
			if who, _, err := a.Redeem(t.Context(), token, ""); err == nil {
				let <- who
			}
		})
	}
	wg.Wait()
	names, err := db.AnnotatorNames(t.Context(), "s")
	if len(let) != 3 || len(names) != 3 || err != nil {
		t.Errorf("%d came in and %d were recorded, want 3 (%v)", len(let), len(names), err)
	}
}

func TestLinksExpire(t *testing.T) {
	a, c, _ := service(t)
	ctx := t.Context()
	sign, err1 := a.NewResearcherLink(ctx, "grace")
	join, err2 := a.NewInvitation(ctx, "s", 5, 48*time.Hour)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	c.now = c.now.Add(time.Hour - time.Second)
	if _, err := a.PeekResearcher(ctx, sign); err != nil {
		t.Errorf("a second early: %v", err)
	}
	c.now = c.now.Add(time.Second)
	_, err := a.PeekResearcher(ctx, sign)
	wantKind(t, "sign-in link after an hour", err, idrl.NotFound)
	if _, err := a.PeekInvitation(ctx, join); err != nil {
		t.Errorf("invitation after an hour: %v", err)
	}
	c.now = c.now.Add(47 * time.Hour)
	_, _, err = a.Redeem(ctx, join, "")
	wantKind(t, "invitation after two days", err, idrl.NotFound)
}

func TestLoginsExpire(t *testing.T) {
	for _, test := range []struct {
		name    string
		role    auth.Role
		visits  []time.Duration // between visits
		present bool            // at the last
	}{
		{"researcher, idle", auth.Researcher, []time.Duration{3*day + time.Second}, false},
		{"researcher, just in time", auth.Researcher, []time.Duration{3 * day, 3 * day}, true},
		{"researcher, two weeks", auth.Researcher, []time.Duration{3 * day, 3 * day, 3 * day, 3 * day, 2*day + time.Second}, false},
		{"annotator, idle", auth.Annotator, []time.Duration{14*day + time.Second}, false},
		{"annotator, comes back", auth.Annotator, []time.Duration{14 * day, 13 * day}, true},
		{"annotator, two months", auth.Annotator, []time.Duration{14 * day, 14 * day, 14 * day, 14 * day, 4*day + time.Second}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, c, _ := service(t)
			cookie := signIn(t, a, test.role)
			var who auth.Actor
			for _, d := range test.visits {
				c.now = c.now.Add(d)
				var err error
				if who, err = a.Actor(t.Context(), cookie); err != nil {
					t.Fatal(err)
				}
			}
			if present := who.Role != auth.None; present != test.present {
				t.Errorf("present: %t, want %t", present, test.present)
			}
		})
	}
}

func signIn(t *testing.T, a *auth.Auth, role auth.Role) (cookie string) {
	t.Helper()
	var err error
	var token string
	if role == auth.Researcher {
		if token, err = a.NewResearcherLink(t.Context(), "grace"); err == nil {
			_, cookie, err = a.RedeemResearcher(t.Context(), token)
		}
	} else if token, err = a.NewInvitation(t.Context(), "s", 1, time.Hour); err == nil {
		_, cookie, err = a.Redeem(t.Context(), token, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

func TestSignOut(t *testing.T) {
	a, _, _ := service(t)
	cookie, other := signIn(t, a, auth.Annotator), signIn(t, a, auth.Annotator)
	for range 2 { // the second time there is nothing to forget
		if err := a.SignOut(t.Context(), cookie); err != nil {
			t.Error(err)
		}
	}
	if who, err := a.Actor(t.Context(), cookie); err != nil || who != (auth.Actor{}) {
		t.Errorf("signed out: %v, %v", who, err)
	}
	if who, err := a.Actor(t.Context(), other); err != nil || who.Role != auth.Annotator {
		t.Errorf("another: %v, %v", who, err)
	}
	if err := a.SignOut(t.Context(), "nonsense"); err != nil {
		t.Error(err)
	}
}

// What is wrong with a link is told in the same words, whatever it is.
func TestWrongTokens(t *testing.T) {
	a, _, _ := service(t)
	ctx := t.Context()
	texts := map[string]bool{}
	for _, token := range []string{"", "x", strings.Repeat("A", 22), strings.Repeat("A", 21) + "B", "../../etc/passwd", strings.Repeat("A", 5000), "AAAAAAAAAAAAAAAAAAAAAA=="} {
		_, err := a.PeekInvitation(ctx, token)
		wantKind(t, "peek "+token, err, idrl.NotFound)
		texts[err.Error()] = true
		_, _, err = a.Redeem(ctx, token, "")
		wantKind(t, "redeem "+token, err, idrl.NotFound)
		texts[err.Error()] = true
		if who, err := a.Actor(ctx, token); err != nil || who != (auth.Actor{}) {
			t.Errorf("cookie %q: %v, %v", token, who, err)
		}
	}
	if len(texts) != 1 {
		t.Errorf("different words: %v", texts)
	}
}

func TestRefusedRequests(t *testing.T) {
	a, _, _ := service(t)
	ctx := t.Context()
	for _, user := range []string{"", "  ", strings.Repeat("x", 81), "a\x00b", "\xff"} {
		_, err := a.NewResearcherLink(ctx, user)
		wantKind(t, "user "+user, err, idrl.Invalid)
	}
	if _, err := a.NewResearcherLink(ctx, strings.Repeat("ж", 80)); err != nil { // two bytes each
		t.Errorf("a name of 80 characters: %v", err)
	}
	_, err := a.NewResearcherLink(ctx, strings.Repeat("ж", 81))
	wantKind(t, "a name of 81 characters", err, idrl.Invalid)
	for _, test := range []struct {
		session idrl.SessionID
		uses    int
		life    time.Duration
		want    idrl.Kind
	}{
		{"", 1, time.Hour, idrl.Invalid},
		{"s", 0, time.Hour, idrl.Invalid},
		{"s", 10001, time.Hour, idrl.Invalid},
		{"s", 1, 0, idrl.Invalid},
		{"s", 1, 366 * 24 * time.Hour, idrl.Invalid},
		{"nowhere", 1, time.Hour, idrl.NotFound},
	} {
		_, err := a.NewInvitation(ctx, test.session, test.uses, test.life)
		wantKind(t, string(test.session), err, test.want)
	}
}

// A cookie must not be accepted as a link, nor a link as a cookie.
func TestTokensAreNotMixed(t *testing.T) {
	a, _, _ := service(t)
	token, err := a.NewInvitation(t.Context(), "s", 1, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if who, err := a.Actor(t.Context(), token); err != nil || who.Role != auth.None {
		t.Errorf("a link as a cookie: %v, %v", who, err)
	}
	_, err = a.PeekInvitation(t.Context(), signIn(t, a, auth.Annotator))
	wantKind(t, "a cookie as a link", err, idrl.NotFound)
}

// fullDisk is a store that takes no write.
type fullDisk struct{ auth.Store }

func (fullDisk) Seen(context.Context, []byte, time.Time) error {
	return idrl.Errorf(idrl.Unavailable, "the disk is full")
}

func (fullDisk) SignOut(context.Context, []byte) error {
	return idrl.Errorf(idrl.Unavailable, "the disk is full")
}

// Who is signed in stays so on a full disk, for no longer than else.
func TestActorOnAFullDisk(t *testing.T) {
	a, c, db := service(t)
	token, err := a.NewResearcherLink(t.Context(), "grace")
	if err != nil {
		t.Fatal(err)
	}
	_, cookie, err := a.RedeemResearcher(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	full := auth.New(auth.Config{Store: fullDisk{db}, Now: c.Now})
	for _, step := range []struct {
		after time.Duration
		role  auth.Role
	}{{time.Hour, auth.Admin}, {15 * 24 * time.Hour, auth.None}} {
		c.now = c.now.Add(step.after)
		if who, err := full.Actor(t.Context(), cookie); err != nil || who.Role != step.role {
			t.Errorf("after %v: %+v, %v; want role %v", step.after, who, err, step.role)
		}
	}
}
