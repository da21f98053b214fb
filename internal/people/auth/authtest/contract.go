package authtest

import (
	"context"
	"crypto/sha256"
	"strconv"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
)

// Store is a store of links, logins and keys, and what researchers change there.
type Store interface {
	auth.Store
	RevokeInvitation(ctx context.Context, session idrl.SessionID, link int64, actor string, now time.Time) error
	RevokeAnnotator(ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, leaveOut bool, actor string, now time.Time) error
	AnnotatorNames(ctx context.Context, session idrl.SessionID) (map[idrl.AnnotatorID]string, error)
}

var t0 = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// limit is that of the logins of a test.
var limit = identity.LoginLimit{Idle: 2 * time.Hour, Absolute: 5 * time.Hour, Narrow: 3}

// Run holds stores to the contract of auth.Store. open returns one that is empty but
// for the sessions "s" and "t".
func Run(t *testing.T, open func(t *testing.T) Store) {
	for _, test := range []struct {
		name string
		run  func(b *bench)
	}{
		{"links", (*bench).links},
		{"a new link of an account replaces the one before", (*bench).replaced},
		{"links that are not valid", (*bench).deadLinks},
		{"the last use is not shared", (*bench).lastUse},
		{"logins", (*bench).logins},
		{"logins that have expired", (*bench).expired},
		{"an annotator whose part has ended", (*bench).ended},
		{"keys", (*bench).keys},
		{"keys are pruned", (*bench).pruned},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(&bench{t, open(t)}) })
	}
}

// bench is one test of one store.
type bench struct {
	*testing.T
	Store
}

// sum returns the hash of a token, which must have the length of a SHA-256.
func sum(token string) []byte {
	s := sha256.Sum256([]byte(token))
	return s[:]
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) missing(what string, err error) {
	b.Helper()
	if err == nil || idrl.KindOf(err) != idrl.NotFound {
		b.Errorf("%s: error = %v, want kind NotFound", what, err)
	}
}

// invite records a link into session s for some uses and an hour.
func (b *bench) invite(hash string, uses int) int64 {
	b.Helper()
	id, err := b.Invite(b.Context(), sum(hash), identity.Invitation{Session: "s", Uses: uses, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
	b.must(err)
	return id
}

// join signs an annotator in at t0 and returns their id.
func (b *bench) join(link, login string) idrl.AnnotatorID {
	b.Helper()
	l, err := b.SignIn(b.Context(), sum(link), sum(login), "Ada", limit, t0)
	b.must(err)
	return l.Annotator
}

// holder fails unless login is held as want says.
func (b *bench) holder(login string, want identity.Login) {
	b.Helper()
	got, err := b.Login(b.Context(), sum(login))
	if err != nil || !got.Since.Equal(want.Since) || !got.SeenAt.Equal(want.SeenAt) {
		b.Errorf("login %s: %+v, %v; want %+v", login, got, err, want)
	}
	if got.Since, got.SeenAt = want.Since, want.SeenAt; got != want {
		b.Errorf("login %s: %+v, want %+v", login, got, want)
	}
}

func (b *bench) links() {
	ctx := b.Context()
	b.must(b.AddUser(ctx, "grace", identity.Researcher, t0))
	b.must(b.AddUser(ctx, "grace", identity.Researcher, t0))
	first, err := b.Invite(ctx, sum("g"), identity.Invitation{User: "grace", Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
	b.must(err)
	if second := b.invite("l", 2); first != 1 || second != 2 {
		b.Errorf("links %d and %d, want 1 and 2", first, second)
	}
	for range 2 { // a look uses nothing up
		if user, session, err := b.Invitation(ctx, sum("g"), t0); err != nil || user != "grace" || session != "" {
			b.Errorf("a researcher's link: %q, %q, %v", user, session, err)
		}
		if user, session, err := b.Invitation(ctx, sum("l"), t0); err != nil || user != "" || session != "s" {
			b.Errorf("an annotator's link: %q, %q, %v", user, session, err)
		}
	}
	if session, err := b.InvitationSession(ctx, sum("l")); err != nil || session != "s" {
		b.Errorf("session %q, %v", session, err)
	}
	_, err = b.InvitationSession(ctx, sum("g"))
	b.missing("session of a researcher's link", err)
	for name, i := range map[string]identity.Invitation{"user": {User: "hopper"}, "session": {Session: "u"}} {
		_, err := b.Invite(ctx, sum(name), i)
		b.missing("unknown "+name, err)
	}
}

func (b *bench) replaced() {
	ctx := b.Context()
	for _, user := range []string{"grace", "hopper"} {
		b.must(b.AddUser(ctx, user, identity.Viewer, t0))
	}
	for _, link := range []struct{ hash, user string }{{"one", "grace"}, {"other", "hopper"}, {"two", "grace"}} {
		_, err := b.Invite(ctx, sum(link.hash), identity.Invitation{User: link.user, Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
		b.must(err)
	}
	_, _, err := b.Invitation(ctx, sum("one"), t0)
	b.missing("link that was replaced", err)
	for hash, want := range map[string]identity.Role{"two": identity.Admin, "other": identity.Viewer} { // the first account is an admin
		if l, err := b.SignIn(ctx, sum(hash), sum("cookie of "+hash), "", limit, t0); err != nil || l.Role != want {
			b.Errorf("link %s: %+v, %v; want role %s", hash, l, err, want)
		}
		if l, err := b.Login(ctx, sum("cookie of "+hash)); err != nil || l.Role != want {
			b.Errorf("login by %s: %+v, %v; want role %s", hash, l, err, want)
		}
	}
}

func (b *bench) deadLinks() {
	ctx := b.Context()
	b.invite("used", 1)
	b.join("used", "c1")
	b.invite("expired", 1)
	revoked := b.invite("revoked", 1)
	b.must(b.RevokeInvitation(ctx, "s", revoked, "grace", t0))
	b.must(b.RevokeInvitation(ctx, "s", revoked, "grace", t0))
	b.missing("link of another session", b.RevokeInvitation(ctx, "t", revoked, "grace", t0))
	if _, _, err := b.Invitation(ctx, sum("expired"), t0.Add(time.Hour-time.Second)); err != nil {
		b.Errorf("a second before the end: %v", err)
	}
	for hash, now := range map[string]time.Time{"used": t0, "expired": t0.Add(time.Hour), "revoked": t0, "unknown": t0} {
		_, _, err := b.Invitation(ctx, sum(hash), now)
		b.missing(hash, err)
		_, err = b.SignIn(ctx, sum(hash), sum("c2"), "Bob", limit, now)
		b.missing("sign in by "+hash, err)
		if session, err := b.InvitationSession(ctx, sum(hash)); hash != "unknown" && (err != nil || session != "s") {
			b.Errorf("session of a link that is %s: %q, %v", hash, session, err)
		}
	}
	_, err := b.Login(ctx, sum("c2"))
	b.missing("login that was refused", err)
	if names, err := b.AnnotatorNames(ctx, "s"); err != nil || len(names) != 1 {
		b.Errorf("annotators %v, %v; want one", names, err)
	}
}

func (b *bench) lastUse() {
	b.invite("l", 1)
	var wait sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wait.Go(func() { _, errs[i] = b.SignIn(b.Context(), sum("l"), sum(strconv.Itoa(i)), "", limit, t0) })
	}
	wait.Wait()
	let := 0
	for _, err := range errs {
		if err == nil {
			let++
		} else {
			b.missing("a link that is used up", err)
		}
	}
	if let != 1 {
		b.Errorf("%d signed in by a link for one", let)
	}
}

func (b *bench) logins() {
	ctx := b.Context()
	b.must(b.AddUser(ctx, "grace", identity.Researcher, t0))
	_, err := b.Invite(ctx, sum("g"), identity.Invitation{User: "grace", Uses: 1, CreatedAt: t0, ExpiresAt: t0.Add(time.Hour)})
	b.must(err)
	l, err := b.SignIn(ctx, sum("g"), sum("c"), "", limit, t0)
	if want := (identity.Login{User: "grace", Role: identity.Admin, Since: t0, SeenAt: t0}); err != nil || l != want {
		b.Errorf("signed in: %+v, %v; want %+v", l, err, want)
	}
	b.holder("c", l)
	later := t0.Add(time.Minute)
	b.must(b.Seen(ctx, sum("c"), later))
	b.must(b.Seen(ctx, sum("c"), t0)) // came late
	b.must(b.Seen(ctx, sum("unknown"), later))
	l.SeenAt = later
	b.holder("c", l)

	b.invite("l", 1)
	ada := b.join("l", "d")
	b.holder("d", identity.Login{Session: "s", Annotator: ada, Since: t0, SeenAt: t0})
	if names, err := b.AnnotatorNames(ctx, "s"); err != nil || len(names) != 1 || names[ada] != "Ada" {
		b.Errorf("annotators %v, %v", names, err)
	}
	b.must(b.SignOut(ctx, sum("d")))
	b.must(b.SignOut(ctx, sum("d")))
	_, err = b.Login(ctx, sum("d"))
	b.missing("login that ended", err)
	b.holder("c", l)
}

// A sign-in ends the expired logins of the same person, and no others.
func (b *bench) expired() {
	ctx := b.Context()
	for _, user := range []string{"grace", "hopper"} {
		b.must(b.AddUser(ctx, user, identity.Researcher, t0))
	}
	link := 0
	signIn := func(user, login string, after time.Duration) {
		b.Helper()
		link++
		hash, at := sum(user+strconv.Itoa(link)), t0.Add(after)
		_, err := b.Invite(ctx, hash, identity.Invitation{User: user, Uses: 1, CreatedAt: at, ExpiresAt: at.Add(time.Hour)})
		b.must(err)
		_, err = b.SignIn(ctx, hash, sum(login), "", limit, at)
		b.must(err)
	}
	gone := func(logins map[string]bool) {
		b.Helper()
		for login, gone := range logins {
			if _, err := b.Login(ctx, sum(login)); (err != nil) != gone {
				b.Errorf("login %s: %v, want gone: %t", login, err, gone)
			}
		}
	}
	signIn("hopper", "other", 0)
	signIn("grace", "idle", 0)
	signIn("grace", "old", 0)
	b.must(b.Seen(ctx, sum("old"), t0.Add(limit.Idle)))
	b.invite("l", 2)
	ada := b.join("l", "ada")
	b.join("l", "bob")
	b.must(b.AddRejoinKey(ctx, sum("k"), identity.RejoinKey{Session: "s", Annotator: ada, Since: t0, UsedAt: t0}, 8))

	signIn("grace", "first", limit.Idle)
	gone(map[string]bool{"idle": false})
	late := limit.Idle + time.Second
	signIn("grace", "second", late)
	b.must(b.Rejoin(ctx, sum("k"), sum("ada again"), limit, t0.Add(late)))
	gone(map[string]bool{"idle": true, "old": false, "first": false, "second": false, "other": false, "ada": true, "ada again": false, "bob": false})
	last := limit.Absolute + time.Second
	for _, login := range []string{"old", "second"} {
		b.must(b.Seen(ctx, sum(login), t0.Add(last)))
	}
	signIn("grace", "third", last)
	gone(map[string]bool{"old": true, "first": true, "second": false, "third": false, "other": false})
}

func (b *bench) ended() {
	ctx := b.Context()
	b.invite("l", 2)
	ada, bob := b.join("l", "c"), b.join("l", "d")
	b.must(b.AddRejoinKey(ctx, sum("k"), identity.RejoinKey{Session: "s", Annotator: ada, Since: t0, UsedAt: t0}, 8))
	b.missing("annotator of another session", b.RevokeAnnotator(ctx, "t", ada, false, "grace", t0))
	b.must(b.RevokeAnnotator(ctx, "s", ada, false, "grace", t0))
	b.holder("c", identity.Login{Session: "s", Annotator: ada, Since: t0, SeenAt: t0, Revoked: true})
	b.holder("d", identity.Login{Session: "s", Annotator: bob, Since: t0, SeenAt: t0})
	_, err := b.RejoinKey(ctx, sum("k"))
	b.missing("key of one whose part has ended", err)
	b.missing("rejoin", b.Rejoin(ctx, sum("k"), sum("e"), limit, t0))
	_, err = b.Login(ctx, sum("e"))
	b.missing("login that was refused", err)
}

// key fails unless a key was used at a time.
func (b *bench) key(hash string, want identity.RejoinKey) {
	b.Helper()
	got, err := b.RejoinKey(b.Context(), sum(hash))
	if err != nil || got.Session != want.Session || got.Annotator != want.Annotator || !got.Since.Equal(want.Since) || !got.UsedAt.Equal(want.UsedAt) {
		b.Errorf("key %s: %+v, %v; want %+v", hash, got, err, want)
	}
}

func (b *bench) keys() {
	ctx := b.Context()
	k := identity.RejoinKey{Session: "s", Annotator: "nobody", Since: t0, UsedAt: t0}
	b.missing("key of nobody", b.AddRejoinKey(ctx, sum("k"), k, 8))
	b.invite("l", 1)
	k.Annotator = b.join("l", "c")
	b.must(b.AddRejoinKey(ctx, sum("k"), k, 8))
	b.key("k", k)
	later := t0.Add(time.Hour)
	b.must(b.UseRejoinKey(ctx, sum("k"), later))
	b.must(b.UseRejoinKey(ctx, sum("k"), t0)) // came late
	b.must(b.UseRejoinKey(ctx, sum("unknown"), later))
	k.UsedAt = later
	b.key("k", k)

	later = later.Add(time.Hour)
	b.must(b.Rejoin(ctx, sum("k"), sum("d"), limit, later))
	k.UsedAt = later
	b.key("k", k)
	b.holder("d", identity.Login{Session: "s", Annotator: k.Annotator, Since: later, SeenAt: later})
	_, err := b.RejoinKey(ctx, sum("unknown"))
	b.missing("unknown key", err)
	b.missing("unknown key", b.Rejoin(ctx, sum("unknown"), sum("e"), limit, later))
}

// Of an annotator's keys those that were used last are kept, and the new one always.
func (b *bench) pruned() {
	ctx := b.Context()
	b.invite("l", 2)
	ada, bob := b.join("l", "c"), b.join("l", "d")
	add := func(hash string, who idrl.AnnotatorID, used int) {
		b.Helper()
		at := t0.Add(time.Duration(used) * time.Minute)
		b.must(b.AddRejoinKey(ctx, sum(hash), identity.RejoinKey{Session: "s", Annotator: who, Since: t0, UsedAt: at}, 3))
	}
	add("bob", bob, 0)
	for i, used := range []int{5, 2, 7, 1} { // the last one is new, and used least recently
		add(string(rune('1'+i)), ada, used)
	}
	for hash, kept := range map[string]bool{"1": true, "2": false, "3": true, "4": true, "bob": true} {
		if _, err := b.RejoinKey(ctx, sum(hash)); (err == nil) != kept {
			b.Errorf("key %s: %v, want kept: %t", hash, err, kept)
		}
	}
}
