package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"tiebreak/internal/idrl"
)

// consentField finds the version of the consent text in a form.
var consentField = regexp.MustCompile(`name="consent_version" value="(\d+)"`)

// toAgree returns the form fields that agree to the consent text of a page, if it has one. It
// returns an error of kind Conflict if the caller does not agree.
func (c *Conn) toAgree(ctx context.Context, page *url.URL) (url.Values, error) {
	res, err := c.request(ctx, http.MethodGet, page, nil)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(io.LimitReader(res.Body, maxMessage))
	if err != nil {
		return nil, lost(ctx, err)
	}
	found := consentField.FindSubmatch(b)
	switch {
	case found == nil:
		return url.Values{}, nil
	case !c.Agrees:
		return nil, idrl.Errorf(idrl.Conflict, "the session asks everybody to agree to a consent text first")
	}
	c.Agreed = string(found[1])
	return url.Values{"agree": {"yes"}, "consent_version": {c.Agreed}}, nil
}

// Agree agrees to the consent text that the server requires after Join, if it does. Errors as for
// Join.
func (c *Conn) Agree(ctx context.Context) error {
	page := *c.base
	page.Path = strings.TrimSuffix(page.Path, "label") + "consent"
	form, err := c.toAgree(ctx, &page)
	if err != nil || len(form) == 0 {
		return err
	}
	_, err = c.do(ctx, http.MethodPost, &page, form)
	return err
}

// brackets matches the placeholders for the ids that a platform fills in (identity.Crowd.Query).
var brackets = regexp.MustCompile(`^(\{\{%.*%\}\}|\$\{.*\}|…)$`)

// FillIn replaces every placeholder that a crowd platform would fill in by id, in the address of a
// link as it is entered on the platform. It reports whether there was any.
func FillIn(link, id string) (string, bool) {
	address, query, _ := strings.Cut(link, "?")
	parts, any := strings.Split(query, "&"), false
	for i, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if brackets.MatchString(value) {
			parts[i], any = name+"="+url.QueryEscape(id), true
		}
	}
	if !any {
		return link, false
	}
	return address + "?" + strings.Join(parts, "&"), true
}
