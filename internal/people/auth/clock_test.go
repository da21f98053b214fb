package auth_test

import (
	"context"
	"testing"
	"time"

	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/auth/authtest"
	"tiebreak/internal/people/identity"
)

// oneToken keeps the token that was made last.
type oneToken struct{ made identity.Token }

func (o *oneToken) AddToken(_ context.Context, _ []byte, t identity.Token, _ string) (identity.Token, error) {
	t.ID = 1
	o.made = t
	return t, nil
}

func (o *oneToken) Token(context.Context, []byte) (identity.Token, error) { return o.made, nil }

// When the clock of the server is set back or forward by up to a day, and right again, sign-ins, links and tokens hold. The last row is the
// control: a jump beyond their life ends them.
func TestClockJumps(t *testing.T) {
	for _, test := range []struct {
		name string
		jump time.Duration
		hold bool
	}{
		{"an hour back", -time.Hour, true},
		{"a day back", -day, true},
		{"an hour forward", time.Hour, true},
		{"a day forward", day, true},
		{"two months forward", 61 * day, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &clock{time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
			a := auth.New(auth.Config{Store: authtest.NewMemory("s"), Tokens: &oneToken{}, Now: c.Now})
			ctx := t.Context()
			cookies := []string{signIn(t, a, auth.Researcher), signIn(t, a, auth.Annotator)}
			link, err := a.NewInvitation(ctx, "s", 10, 30*day)
			if err != nil {
				t.Fatal(err)
			}
			token, _, err := a.NewToken(ctx, identity.Token{Name: "training", Scope: identity.ScopeRead, Session: "s"}, 30*day, "grace")
			if err != nil {
				t.Fatal(err)
			}
			check := func(when string, want bool) {
				t.Helper()
				for i, cookie := range cookies {
					who, err := a.Actor(ctx, cookie)
					if err != nil || (who.Role != auth.None) != want {
						t.Errorf("%s: sign-in %d holds: %v, %v", when, i, who, err)
					}
				}
				if _, err := a.PeekInvitation(ctx, link); (err == nil) != want {
					t.Errorf("%s: the link: %v", when, err)
				}
				if who, err := a.Program(ctx, token); err != nil || (who.Role == auth.Program) != want {
					t.Errorf("%s: the token holds: %v, %v", when, who, err)
				}
			}
			c.now = c.now.Add(test.jump)
			check("after the jump", test.hold)
			if c.now = c.now.Add(-test.jump); test.hold {
				check("right again", true)
			}
		})
	}
}
