package auth_test

import (
	"slices"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
)

// allActions are the actions of the policy, and two that are none.
var allActions = []auth.Action{
	auth.ListSessions, auth.CreateSession, auth.ManageAccounts, auth.ManageWorkers, auth.OwnAccount,
	auth.WatchSession, auth.Export, auth.Invite, auth.Remove, auth.ChangeSession, auth.ShareSession,
	auth.Upload, auth.Label, auth.Recall, auth.FetchClip, "", "anything else",
}

// What rights allow in a session: each line, and those before it.
var byRight = map[identity.Right][]auth.Action{
	identity.NoRight:     {},
	identity.RightView:   {auth.WatchSession, auth.FetchClip},
	identity.RightExport: {auth.WatchSession, auth.FetchClip, auth.Export},
	identity.RightChange: {auth.WatchSession, auth.FetchClip, auth.Export, auth.Invite, auth.Remove, auth.ChangeSession},
	identity.RightOwn:    {auth.WatchSession, auth.FetchClip, auth.Export, auth.Invite, auth.Remove, auth.ChangeSession, auth.ShareSession},
}

// What roles allow without a session.
var byRole = map[auth.Role][]auth.Action{
	auth.Admin:      {auth.ListSessions, auth.OwnAccount, auth.CreateSession, auth.ManageAccounts, auth.ManageWorkers},
	auth.Researcher: {auth.ListSessions, auth.OwnAccount, auth.CreateSession},
	auth.Viewer:     {auth.ListSessions, auth.OwnAccount},
}

// accountMay is what the tables say of an account.
func accountMay(role auth.Role, action auth.Action, o auth.Object) bool {
	if slices.Contains(byRole[role], action) {
		return true
	}
	right := o.Right
	switch {
	case o.Session == "":
		return false
	case role == auth.Admin:
		right = identity.RightOwn
	case role == auth.Viewer && right.Includes(identity.RightExport):
		right = identity.RightExport
	}
	return slices.Contains(byRight[right], action)
}

// TestCan is the whole matrix: role × right × action × session. What is not named here is refused.
func TestCan(t *testing.T) {
	annotator := auth.Actor{Role: auth.Annotator, Session: "s", Annotator: "a1"}
	narrow := annotator
	narrow.Narrow = true
	answers := []auth.Action{auth.Label, auth.FetchClip, auth.Recall}
	actors := map[string]struct {
		auth.Actor
		in  []auth.Action // in session s
		all []auth.Action // anywhere
	}{
		"nobody":                   {},
		"annotator of s":           {Actor: annotator, in: answers},
		"narrow annotator of s":    {Actor: narrow, in: answers[:2]},
		"removed from s":           {Actor: auth.Actor{Role: auth.Removed, Session: "s", Annotator: "a1"}},
		"annotator of nothing":     {Actor: auth.Actor{Role: auth.Annotator}},
		"session without a role":   {Actor: auth.Actor{Session: "s", Annotator: "a1"}},
		"annotator without a name": {Actor: auth.Actor{Role: auth.Annotator, Session: "s"}},
		"another trade":            {Actor: auth.Actor{Role: "owner", User: "root", Session: "s", Annotator: "a1"}},
		"program without a scope":  {Actor: auth.Actor{Role: auth.Program, Session: "s", Annotator: "a1"}},
	}
	for name, actor := range actors {
		for _, action := range allActions {
			for _, right := range append(identity.Rights(), identity.NoRight) {
				for _, session := range []idrl.SessionID{"", "s", "t"} {
					want := slices.Contains(actor.all, action) || session == "s" && slices.Contains(actor.in, action)
					check(t, name, actor.Actor, action, auth.Object{Session: session, Right: right}, want)
				}
			}
		}
	}
	for _, role := range []auth.Role{auth.Admin, auth.Researcher, auth.Viewer} {
		for _, action := range allActions {
			for _, right := range append(identity.Rights(), identity.NoRight) {
				for _, session := range []idrl.SessionID{"", "s"} {
					o := auth.Object{Session: session, Right: right}
					check(t, string(role), auth.Actor{Role: role, User: "ada"}, action, o, accountMay(role, action, o))
				}
			}
		}
	}
}

// TestProgramsCan: a program may do what its token allows, and of that what its account may do, if it
// has one.
func TestProgramsCan(t *testing.T) {
	scopes := map[identity.Scope][]auth.Action{
		identity.ScopeRead:   {auth.WatchSession, auth.Export},
		identity.ScopeLabel:  {auth.Label},
		identity.ScopeWrite:  {auth.WatchSession, auth.Export, auth.ChangeSession},
		identity.ScopeUpload: {auth.WatchSession, auth.Export, auth.Upload},
	}
	needs := map[auth.Action]auth.Action{auth.Label: auth.Invite, auth.Upload: auth.ChangeSession} // of the account
	for _, scope := range identity.Scopes() {
		for _, only := range []idrl.SessionID{"", "s"} {
			for _, role := range []auth.Role{auth.None, auth.Admin, auth.Researcher, auth.Viewer} {
				who := auth.Actor{Role: auth.Program, Token: 1, Scope: scope, Session: only, Annotator: "a1", As: role}
				if role != auth.None {
					who.User = "ada"
				}
				for _, action := range allActions {
					for _, right := range append(identity.Rights(), identity.NoRight) {
						for _, session := range []idrl.SessionID{"", "s", "t"} {
							o := auth.Object{Session: session, Right: right}
							want := session != "" && (only == "" || only == session) && slices.Contains(scopes[scope], action) ||
								action == auth.ListSessions && scope != identity.ScopeLabel ||
								action == auth.CreateSession && scope == identity.ScopeUpload && only == ""
							account := action
							if n := needs[action]; n != "" {
								account = n
							}
							want = want && (role == auth.None || accountMay(role, account, o))
							check(t, "program "+string(scope)+" of "+string(role), who, action, o, want)
						}
					}
				}
			}
		}
	}
}

func check(t *testing.T, name string, who auth.Actor, action auth.Action, o auth.Object, want bool) {
	t.Helper()
	if got := auth.Can(who, action, o); got != want {
		t.Errorf("can %s (session %q) %s in session %q with right %q: %t, want %t", name, who.Session, action, o.Session, o.Right, got, want)
	}
}

func TestCookieLife(t *testing.T) {
	for _, role := range []auth.Role{auth.None, auth.Admin, auth.Researcher, auth.Viewer, auth.Annotator, auth.Removed} {
		if auth.CookieLife(role) <= 0 {
			t.Errorf("a cookie of role %q lasts %v", role, auth.CookieLife(role))
		}
	}
	if auth.CookieLife(auth.Viewer) >= auth.CookieLife(auth.Annotator) {
		t.Error("the cookie of an account, which sees everybody's answers, lasts as long as an annotator's")
	}
}
