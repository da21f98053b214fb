package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/templates"
)

// Tokens holds the tokens with which programs use the HTTP API.
type Tokens interface {
	// Tokens returns every token, in the order in which they were made.
	Tokens(ctx context.Context) ([]identity.Token, error)
	// RevokeToken makes a token worthless. It returns an error of kind NotFound if there is none.
	RevokeToken(ctx context.Context, id int64, actor string, now time.Time) error
}

const (
	tokensPath = "/tokens"
	tokenDays  = 90 // unless the form says otherwise
	tokenOnce  = "tb_token"
)

// scopeTexts describe scopes, for people.
var scopeTexts = map[identity.Scope]string{
	identity.ScopeRead: "to read answers, rewards and exports", identity.ScopeUpload: "to read, upload clips and make sessions over them",
	identity.ScopeWrite: "to read, pause, resume and close", identity.ScopeLabel: "to answer the questions of one session",
}

// tokens is GET /tokens. A token that the browser brings from the form is shown, and removed from
// the browser.
func (s running) tokens(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	p := templates.TokensPage{Made: cookie(c, tokenOnce)}
	if p.Made != "" {
		s.tokenOnce(c, "")
	}
	return s.showTokens(c, who, http.StatusOK, p, identity.Token{Scope: identity.Scope(c.QueryParam("scope")), Session: idrl.SessionID(c.QueryParam("session"))})
}

// tokenOnce is bringLink of a token: an address would keep it in the browser's history.
func (s running) tokenOnce(c echo.Context, token string) {
	k := &http.Cookie{
		Name: tokenOnce, Value: token, Path: tokensPath, HttpOnly: true, Secure: s.cfg.SecureCookies, SameSite: http.SameSiteStrictMode, MaxAge: 60,
	}
	if token == "" {
		k.MaxAge = -1
	}
	c.SetCookie(k)
}

// postToken is POST /tokens with the fields scope, session (empty for all), days and name.
func (s running) postToken(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	days, err := number(c, "days", tokenDays, 1, auth.MaxTokenDays)
	if err != nil {
		return err
	}
	k := identity.Token{Scope: identity.Scope(c.FormValue("scope")), Session: idrl.SessionID(c.FormValue("session")), Name: strings.TrimSpace(c.FormValue("name"))}
	k.User = who.User
	ctx := c.Request().Context()
	if k.Session != "" { // one that labels is an annotator
		action := auth.WatchSession
		if k.Scope == identity.ScopeLabel {
			action = auth.Invite
		}
		err = s.allowed(ctx, who, action, k.Session, errNotAllowed)
	}
	var token string
	if err == nil {
		token, _, err = s.cfg.Auth.NewToken(ctx, k, time.Duration(days)*24*time.Hour, who.User)
	}
	switch kind := kindOf(err); {
	case err == nil:
		s.tokenOnce(c, token)
		return c.Redirect(http.StatusSeeOther, tokensPath)
	case kind == idrl.Invalid || kind == idrl.NotFound || kind == idrl.Forbidden:
		p := templates.TokensPage{Error: s.explain(err), Days: strconv.Itoa(days), Name: k.Name}
		return s.showTokens(c, who, http.StatusBadRequest, p, k)
	}
	return err
}

// revokeToken is POST /tokens/:token/revoke.
func (s running) revokeToken(c echo.Context) error {
	who, err := s.researcher(c, auth.CreateSession, "")
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(c.Param("token"), 10, 64)
	if err != nil {
		return idrl.Errorf(idrl.NotFound, "there is no such token")
	}
	list, err := s.cfg.Tokens.Tokens(c.Request().Context())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(ownTokens(list, who), func(k identity.Token) bool { return k.ID == id }) {
		return idrl.Errorf(idrl.NotFound, "there is no such token")
	}
	if err := s.cfg.Tokens.RevokeToken(c.Request().Context(), id, who.User, time.Now()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, tokensPath)
}

// toTokens redirects a browser that restores a form's address to the page.
func (s running) toTokens(c echo.Context) error { return c.Redirect(http.StatusSeeOther, tokensPath) }

// ownTokens returns which of the tokens are an account's; all for those who manage accounts.
func ownTokens(list []identity.Token, who auth.Actor) []identity.Token {
	if auth.Can(who, auth.ManageAccounts, auth.Object{}) {
		return list
	}
	return slices.DeleteFunc(list, func(k identity.Token) bool { return k.User != who.User })
}

// showTokens shows an account the page, with the values of the form if they are given.
func (s running) showTokens(c echo.Context, who auth.Actor, status int, p templates.TokensPage, chosen ...identity.Token) error {
	ctx := c.Request().Context()
	list, err := s.cfg.Tokens.Tokens(ctx)
	if err != nil {
		return err
	}
	list = ownTokens(list, who)
	sessions, err := s.list(ctx, who)
	if err != nil {
		return err
	}
	var typed identity.Token
	if len(chosen) > 0 {
		typed = chosen[0]
	}
	p.Layout, p.Action, p.MaxDays = s.layout(c, "Tokens"), tokensPath, strconv.Itoa(auth.MaxTokenDays)
	if p.Days == "" {
		p.Days = strconv.Itoa(tokenDays)
	}
	for _, scope := range identity.Scopes() {
		p.Scopes = append(p.Scopes, templates.TokenOption{Value: string(scope), Text: scopeTexts[scope], Chosen: scope == typed.Scope})
	}
	titles := map[idrl.SessionID]string{}
	p.Sessions = []templates.TokenOption{{Text: "all sessions"}}
	for _, sum := range sessions {
		titles[sum.Spec.ID] = sum.Spec.Title
		p.Sessions = append(p.Sessions, templates.TokenOption{Value: string(sum.Spec.ID), Text: sum.Spec.Title, Chosen: sum.Spec.ID == typed.Session})
	}
	for i := len(list) - 1; i >= 0; i-- {
		p.Rows = append(p.Rows, tokenRow(list[i], titles))
	}
	return render(c, status, templates.Tokens(p))
}

func tokenRow(k identity.Token, titles map[idrl.SessionID]string) templates.TokenRow {
	row := templates.TokenRow{
		ID: strconv.FormatInt(k.ID, 10), Name: k.Name, Scope: string(k.Scope), Session: "all sessions", Expires: k.ExpiresAt.UTC().Format("2 Jan 2006"), State: k.State(time.Now()),
		User: idrl.VisibleName(k.User),
	}
	if k.Session != "" {
		row.Session = cmp.Or(titles[k.Session], "a session that you may not see")
	}
	if k.Live(time.Now()) {
		row.Revoke = fmt.Sprintf("%s/%d/revoke", tokensPath, k.ID)
	}
	return row
}
