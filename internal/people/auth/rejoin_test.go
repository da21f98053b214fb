package auth_test

import (
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
)

const day = 24 * time.Hour

// keyOf returns an annotator of session s with a key.
func keyOf(t *testing.T, a *auth.Auth) (auth.Actor, string) {
	t.Helper()
	who, err := a.Actor(t.Context(), signIn(t, a, auth.Annotator))
	if err != nil {
		t.Fatal(err)
	}
	key, err := a.RejoinKey(t.Context(), who, "")
	if err != nil || key == "" {
		t.Fatalf("key %q, %v", key, err)
	}
	return who, key
}

// A key signs in the annotator to whom it was given, in their session alone, and
// however often: the browser may not have heard the reply.
func TestRejoin(t *testing.T) {
	a, _, db := service(t)
	ctx := t.Context()
	ada, key := keyOf(t, a)
	bob, other := keyOf(t, a)
	for range 2 {
		who, cookie, err := a.Rejoin(ctx, "s", key)
		if err != nil || who != ada {
			t.Fatalf("rejoin: %v, %v; want %v", who, err, ada)
		}
		if got, err := a.Actor(ctx, cookie); err != nil || got != ada {
			t.Errorf("holder of the new cookie: %v, %v", got, err)
		}
	}
	if who, _, err := a.Rejoin(ctx, "s", other); err != nil || who != bob {
		t.Errorf("the other's key: %v, %v; want %v", who, err, bob)
	}
	_, _, err := a.Rejoin(ctx, "t", key)
	wantKind(t, "another session", err, idrl.Forbidden)
	for _, wrong := range []string{"", "x", "AAAAAAAAAAAAAAAAAAAAAA", key + "A", signIn(t, a, auth.Annotator)} {
		_, _, err := a.Rejoin(ctx, "s", wrong)
		wantKind(t, "key "+wrong, err, idrl.Forbidden)
	}
	if who, err := a.Actor(ctx, key); err != nil || who.Role != auth.None {
		t.Errorf("a key as a cookie: %v, %v", who, err)
	}
	_, err = a.PeekInvitation(ctx, key)
	wantKind(t, "a key as a link", err, idrl.NotFound)
	if names, err := db.AnnotatorNames(ctx, "s"); err != nil || len(names) != 3 {
		t.Errorf("%d annotators, want the 3 who joined (%v)", len(names), err)
	}
}

// A key lives for 180 days after its last use, and is replaced after 30.
func TestRejoinKeyAges(t *testing.T) {
	a, c, _ := service(t)
	ctx := t.Context()
	ada, key := keyOf(t, a)
	visit := func(held string) string {
		t.Helper()
		fresh := must.Get(a.RejoinKey(ctx, ada, held))(t)
		return fresh
	}
	c.now = c.now.Add(30 * day)
	if fresh := visit(key); fresh != "" {
		t.Error("a key of 30 days is replaced")
	}
	c.now = c.now.Add(2 * day) // the last use is recorded to a day
	second := visit(key)
	if second == "" || second == key {
		t.Errorf("a key of more than 30 days is replaced by %q", second)
	}
	c.now = c.now.Add(180 * day)
	for _, held := range []string{key, second} { // the reply may have been lost
		if who, _, err := a.Rejoin(ctx, "s", held); err != nil || who != ada {
			t.Errorf("after 180 days: %v, %v", who, err)
		}
	}
	c.now = c.now.Add(180*day + time.Second)
	_, _, err := a.Rejoin(ctx, "s", second)
	wantKind(t, "after more than 180 days without use", err, idrl.Forbidden)
	if visit(second) == "" {
		t.Error("a key that has expired is kept")
	}
}

// A key ends with the annotator's part in the session.
func TestRejoinOfARevokedAnnotator(t *testing.T) {
	a, c, db := service(t)
	ada, key := keyOf(t, a)
	bob, other := keyOf(t, a)
	must.Do(t, db.RevokeAnnotator(t.Context(), "s", ada.Annotator, false, "grace", c.now))
	_, _, err := a.Rejoin(t.Context(), "s", key)
	wantKind(t, "the key of one whose part has ended", err, idrl.Forbidden)
	if who, _, err := a.Rejoin(t.Context(), "s", other); err != nil || who != bob {
		t.Errorf("the other: %v, %v", who, err)
	}
}

// Nobody gets a key of somebody else, and the keys of one annotator are few.
func TestRejoinKeysAreBounded(t *testing.T) {
	a, c, _ := service(t)
	ctx := t.Context()
	ada, first := keyOf(t, a)
	bob, _ := keyOf(t, a)
	if fresh, err := a.RejoinKey(ctx, bob, first); err != nil || fresh == "" {
		t.Errorf("with another's key: %q, %v; want a key of their own", fresh, err)
	}
	_, err := a.RejoinKey(ctx, auth.Actor{Role: auth.Researcher, User: "grace"}, "")
	wantKind(t, "a researcher", err, idrl.Forbidden)
	var last string
	for range 8 {
		c.now = c.now.Add(time.Second)
		if last, err = a.RejoinKey(ctx, ada, ""); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = a.Rejoin(ctx, "s", first)
	wantKind(t, "the first of nine", err, idrl.Forbidden)
	if who, _, err := a.Rejoin(ctx, "s", last); err != nil || who != ada {
		t.Errorf("the last: %v, %v", who, err)
	}
}
