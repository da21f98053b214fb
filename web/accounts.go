package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/templates"
)

const (
	accountPath = "/account"
	usersPath   = "/users"
)

// roleTexts describe roles, for people.
var roleTexts = map[identity.Role]string{
	identity.Admin:      "You are an admin: you may do everything in every session, and manage accounts and workers.",
	identity.Researcher: "You are a researcher: you make sessions, and see these and those that are shared with you.",
	identity.Viewer:     "You are a viewer: you look at the sessions that are shared with you.",
}

// rightTexts describe rights, for people.
var rightTexts = map[identity.Right]string{
	identity.RightView: "view", identity.RightExport: "view and export", identity.RightChange: "view, export and change", identity.RightOwn: "do everything: the owner",
}

// errGuesses refuses passwords beyond the limits, right or wrong.
var errGuesses = idrl.Errorf(idrl.Unavailable, "There were too many wrong passwords for this name, or from your address. Wait some minutes, or use a sign-in link.")

// guess calls try, which checks a password of an account, unless there were too many wrong ones. One
// that is wrong is recorded.
func (s accounts) guess(c echo.Context, name string, try func(context.Context) error) error {
	ctx, now := c.Request().Context(), time.Now()
	key, address := name[:min(len(name), 100)], s.address(c.Request())
	if !s.limits.guesses.take(address, 1, now) {
		return errGuesses
	}
	if !s.limits.accounts.take(key, 1, now) {
		return errGuesses
	}
	err := try(ctx)
	if kindOf(err) != idrl.Forbidden || err == nil {
		s.limits.accounts.take(key, -1, now)
		s.limits.guesses.take(address, -1, now)
		return err
	}
	if ok, _ := s.guesses.take(now); ok {
		known, err := s.cfg.Accounts.Users(ctx)
		if !slices.ContainsFunc(known, func(u identity.User) bool { return u.Name == name }) {
			name = "" // what strangers type is not kept
		}
		if err = errors.Join(err, s.cfg.Accounts.Refused(ctx, name, now)); err != nil {
			s.log.Error("a wrong password cannot be recorded", "err", err)
		}
	}
	return err
}

// account is GET /account.
func (s accounts) account(c echo.Context) error {
	who, err := s.researcher(c, auth.OwnAccount, "")
	if err != nil {
		return err
	}
	return s.showAccount(c, who, http.StatusOK, templates.AccountPage{})
}

func (s accounts) showAccount(c echo.Context, who auth.Actor, status int, p templates.AccountPage) error {
	list, err := s.cfg.Accounts.Users(c.Request().Context())
	if err != nil {
		return err
	}
	for _, u := range list {
		if u.Name == who.User {
			p.Password, p.Logins = u.Password, record.Counted(u.Logins, "browser")+" signed in, with this one."
		}
	}
	p.Layout, p.Action, p.Back, p.Says = s.layout(c, "Your account"), accountPath, "/sessions", roleTexts[identity.Role(who.Role)]
	p.Least, p.Most = strconv.Itoa(auth.MinPassword), strconv.Itoa(auth.MaxPassword)
	return render(c, status, templates.Account(p))
}

// postAccount is POST /account with the field do, "password" with old and password, or "logout".
func (s accounts) postAccount(c echo.Context) error {
	who, err := s.researcher(c, auth.OwnAccount, "")
	if err != nil {
		return err
	}
	switch c.FormValue("do") {
	case "logout":
		if _, _, err := s.cfg.Accounts.LogOut(c.Request().Context(), who.User, who.User, time.Now()); err != nil {
			return err
		}
		s.Recheck()
		s.setCookie(c, "", who.Role, "")
		return c.Redirect(http.StatusSeeOther, "/")
	case "password":
		err = s.guess(c, who.User, func(ctx context.Context) error {
			return s.cfg.Auth.SetPassword(ctx, who.User, c.FormValue("old"), c.FormValue("password"))
		})
	default:
		err = idrl.Errorf(idrl.Invalid, "say whether to set the \"password\" or to \"logout\"")
	}
	switch kind := kindOf(err); {
	case err == nil:
		return s.showAccount(c, who, http.StatusOK, templates.AccountPage{Done: "The password is set."})
	case kind == idrl.Invalid || kind == idrl.Forbidden:
		status, _ := statusOf(err)
		return s.showAccount(c, who, status, templates.AccountPage{Error: s.explain(err)})
	}
	return err
}

// users is GET /users.
func (s accounts) users(c echo.Context) error {
	if _, err := s.researcher(c, auth.ManageAccounts, ""); err != nil {
		return err
	}
	return s.showUsers(c, http.StatusOK, templates.UsersPage{}, identity.Researcher)
}

func (s accounts) showUsers(c echo.Context, status int, p templates.UsersPage, role identity.Role) error {
	list, err := s.cfg.Accounts.Users(c.Request().Context())
	if err != nil {
		return err
	}
	p.Layout, p.Action, p.Back, p.Roles = s.layout(c, "Accounts"), usersPath, "/sessions", roleOptions(role)
	for _, u := range list {
		row := templates.UserRow{
			Name: u.Name, Role: string(u.Role), Added: clock(u.AddedAt), State: u.State(), Revoked: !u.RevokedAt.IsZero(), Password: "no", Roles: roleOptions(u.Role), Seen: "–",
		}
		if u.Password {
			row.Password = "yes"
		}
		if !u.SeenAt.IsZero() {
			row.Seen = clock(u.SeenAt)
		}
		p.Rows = append(p.Rows, row)
	}
	return render(c, status, templates.Users(p))
}

func roleOptions(chosen identity.Role) (out []templates.RoleOption) {
	for _, r := range identity.Roles() {
		out = append(out, templates.RoleOption{Value: string(r), Text: string(r), Chosen: r == chosen})
	}
	return out
}

// postUser is POST /users with the fields name and do: "add" and "role", with role, "link" or
// "revoke". A sign-in link that it makes is shown this once.
func (s accounts) postUser(c echo.Context) error {
	who, err := s.researcher(c, auth.ManageAccounts, "")
	if err != nil {
		return err
	}
	ctx, name, role := c.Request().Context(), strings.TrimSpace(c.FormValue("name")), identity.Role(c.FormValue("role"))
	do, p := c.FormValue("do"), templates.UsersPage{}
	switch do {
	case "add", "link":
		p.Made, err = s.userLink(ctx, do == "add", name, role)
		p.MadeOf = name
	case "role":
		if !slices.Contains(identity.Roles(), role) {
			return idrl.Errorf(idrl.Invalid, "unknown role %q; use one of %v", role, identity.Roles())
		}
		err = s.cfg.Accounts.SetRole(ctx, name, role, who.User, time.Now())
	case "revoke":
		err = s.cfg.Accounts.RevokeUser(ctx, name, who.User, time.Now())
	default:
		err = idrl.Errorf(idrl.Invalid, "say what to do: \"add\", \"link\", \"role\" or \"revoke\"")
	}
	switch kind := kindOf(err); {
	case kind == idrl.Invalid || kind == idrl.NotFound || kind == idrl.Conflict:
		status, _ := statusOf(err)
		p.Error, p.Made = s.explain(err), ""
		if do == "add" {
			p.Name = name
		}
		return s.showUsers(c, status, p, role)
	case err != nil:
		return err
	case p.Made != "":
		return s.showUsers(c, http.StatusOK, p, identity.Researcher)
	}
	s.Recheck()
	return c.Redirect(http.StatusSeeOther, usersPath)
}

// userLink makes a sign-in link for an account: a new one, or one that there is.
func (s accounts) userLink(ctx context.Context, fresh bool, name string, role identity.Role) (string, error) {
	list, err := s.cfg.Accounts.Users(ctx)
	if err != nil {
		return "", err
	}
	k := slices.IndexFunc(list, func(u identity.User) bool { return u.Name == name })
	switch {
	case fresh && k >= 0:
		return "", idrl.Errorf(idrl.Conflict, "there is an account %q already; make a link for it in the list, or choose another name", name)
	case !fresh && k < 0:
		return "", idrl.Errorf(idrl.NotFound, "there is no account %q", name)
	case !fresh:
		role = list[k].Role
	}
	token, err := s.cfg.Auth.NewLink(ctx, name, role)
	return s.cfg.Base + "/signin?token=" + token, err
}

// sharing is GET /sessions/:id/sharing: who may see a session.
func (s accounts) sharing(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.ShareSession)
	if err != nil {
		return err
	}
	return s.showSharing(c, spec, http.StatusOK, "")
}

func (s accounts) showSharing(c echo.Context, spec idrl.SessionSpec, status int, wrong string) error {
	ctx := c.Request().Context()
	given, err := s.cfg.Accounts.Shares(ctx, spec.ID)
	if err != nil {
		return err
	}
	list, err := s.cfg.Accounts.Users(ctx)
	if err != nil {
		return err
	}
	p := templates.SharingPage{
		Layout: s.layout(c, "Who may see this"), Heading: spec.Title, Back: sessionURL(spec.ID), Tabs: sessionTabs(spec, settingsPage), Action: sessionURL(spec.ID, "sharing"), Error: wrong, Before: beforeHint(s.site, c),
	}
	for _, g := range given {
		p.Rows = append(p.Rows, templates.ShareRow{Name: g.User, Role: string(g.Role), Right: rightTexts[g.Right], Owner: g.Right == identity.RightOwn})
	}
	for _, u := range list {
		if u.RevokedAt.IsZero() {
			p.Names = append(p.Names, templates.RoleOption{Value: u.Name, Text: fmt.Sprintf("%s (%s)", u.Name, u.Role)})
		}
	}
	for _, r := range identity.Rights() {
		p.Rights = append(p.Rights, templates.RoleOption{Value: string(r), Text: rightTexts[r]})
	}
	return render(c, status, templates.Sharing(p))
}

// share is POST /sessions/:id/sharing with the fields name and right, which is empty to take it away.
func (s accounts) share(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.ShareSession)
	if err != nil {
		return err
	}
	who, err := s.researcher(c, auth.ShareSession, spec.ID)
	if err != nil {
		return err
	}
	right := identity.Right(c.FormValue("right"))
	if right != identity.NoRight && !slices.Contains(identity.Rights(), right) {
		return idrl.Errorf(idrl.Invalid, "unknown right %q; use one of %v", right, identity.Rights())
	}
	err = s.cfg.Accounts.Share(c.Request().Context(), identity.Share{Session: spec.ID, User: c.FormValue("name"), Right: right}, who.User, time.Now())
	switch kind := kindOf(err); {
	case kind == idrl.NotFound || kind == idrl.Conflict:
		status, _ := statusOf(err)
		return s.showSharing(c, spec, status, s.explain(err))
	case err != nil:
		return err
	}
	s.Recheck()
	if s.may(c, auth.ShareSession, spec.ID) {
		return c.Redirect(http.StatusSeeOther, sessionURL(spec.ID, "sharing"))
	}
	return c.Redirect(http.StatusSeeOther, sessionURL(spec.ID)) // it has another owner now
}
