package auth_test

import (
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
)

// The whole matrix: what is not named here is refused.
func TestCan(t *testing.T) {
	actors := map[string]auth.Actor{
		"nobody":                    {},
		"researcher":                {Role: auth.Researcher, User: "grace"},
		"annotator of s":            {Role: auth.Annotator, Session: "s", Annotator: "a1"},
		"narrow annotator of s":     {Role: auth.Annotator, Session: "s", Annotator: "a1", Narrow: true},
		"reader of s":               {Role: auth.Program, Session: "s", Scope: identity.ScopeRead},
		"writer of all":             {Role: auth.Program, Scope: identity.ScopeWrite},
		"labeller of s":             {Role: auth.Program, Session: "s", Scope: identity.ScopeLabel, Annotator: "a1"},
		"program without a scope":   {Role: auth.Program, Session: "s", Annotator: "a1"},
		"removed from s":            {Role: auth.Removed, Session: "s", Annotator: "a1"},
		"annotator of nothing":      {Role: auth.Annotator},
		"session without a role":    {Session: "s", Annotator: "a1"},
		"annotator without a name":  {Role: auth.Annotator, Session: "s"},
		"somebody of another trade": {Role: "admin", User: "root", Session: "s", Annotator: "a1"},
	}
	actions := []auth.Action{
		auth.ListSessions, auth.CreateSession, auth.WatchSession, auth.Invite, auth.Remove, auth.ChangeSession,
		auth.Export, auth.Label, auth.FetchClip, auth.Recall, "", "anything else",
	}
	type request struct {
		actor   string
		action  auth.Action
		session idrl.SessionID
	}
	allowed := map[request]bool{}
	for _, session := range []idrl.SessionID{"", "s", "t"} { // the session is of no concern to these
		allowed[request{"researcher", auth.ListSessions, session}] = true
		allowed[request{"researcher", auth.CreateSession, session}] = true
		allowed[request{"reader of s", auth.ListSessions, session}] = true
		allowed[request{"writer of all", auth.ListSessions, session}] = true
	}
	for _, session := range []idrl.SessionID{"s", "t"} {
		for _, action := range []auth.Action{auth.WatchSession, auth.Invite, auth.Remove, auth.ChangeSession, auth.Export, auth.FetchClip} {
			allowed[request{"researcher", action, session}] = true
		}
	}
	for _, session := range []idrl.SessionID{"s", "t"} {
		for _, action := range []auth.Action{auth.WatchSession, auth.Export, auth.ChangeSession} {
			allowed[request{"writer of all", action, session}] = true
		}
	}
	allowed[request{"reader of s", auth.WatchSession, "s"}] = true
	allowed[request{"reader of s", auth.Export, "s"}] = true
	allowed[request{"labeller of s", auth.Label, "s"}] = true
	allowed[request{"annotator of s", auth.Label, "s"}] = true
	allowed[request{"annotator of s", auth.FetchClip, "s"}] = true
	allowed[request{"annotator of s", auth.Recall, "s"}] = true
	allowed[request{"narrow annotator of s", auth.Label, "s"}] = true
	allowed[request{"narrow annotator of s", auth.FetchClip, "s"}] = true

	for name, actor := range actors {
		for _, action := range actions {
			for _, session := range []idrl.SessionID{"", "s", "t"} {
				want := allowed[request{name, action, session}]
				if got := auth.Can(actor, action, session); got != want {
					t.Errorf("can %s %s in session %q: %t, want %t", name, action, session, got, want)
				}
			}
		}
	}
}

func TestCookieLife(t *testing.T) {
	for _, role := range []auth.Role{auth.None, auth.Researcher, auth.Annotator, auth.Removed} {
		if auth.CookieLife(role) <= 0 {
			t.Errorf("a cookie of role %q lasts %v", role, auth.CookieLife(role))
		}
	}
}
