package web

import (
	"fmt"
	"strconv"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/templates"

	"github.com/labstack/echo/v4"
)

// listed is how many links, and how many people, a page lists.
const listed = 200

// peoplePanel lists the links into a session and the annotators who joined.
func (s watching) peoplePanel(c echo.Context, id idrl.SessionID) (p templates.PeoplePanel, err error) {
	ctx := c.Request().Context()
	links, err := s.cfg.People.Invitations(ctx, id)
	if err != nil {
		return p, err
	}
	people, err := s.cfg.People.Annotators(ctx, id)
	if err != nil {
		return p, err
	}
	p = templates.PeoplePanel{
		InviteURL: sessionURL(id, "invitations"), Uses: strconv.Itoa(invitationUses), Days: strconv.Itoa(invitationDays),
		Change: s.may(c, auth.Invite, id), Before: beforeHint(s.site, c),
		Joined: strconv.Itoa(len(people)), MoreLinks: more(len(links)), MorePeople: more(len(people)),
	}
	for _, l := range links[:min(len(links), listed)] {
		p.Links = append(p.Links, linkRow(id, l, time.Now()))
	}
	for i := len(people) - 1; i >= max(0, len(people)-listed); i-- { // the newest first
		p.People = append(p.People, personRow(id, people[i]))
	}
	for _, a := range people {
		if a.LeftOut && s.may(c, auth.Export, id) {
			p.ExportAll = sessionURL(id, "export") + "?format=csv&all=1"
		}
	}
	return p, nil
}

// more says how many rows are not listed.
func more(n int) string {
	if n <= listed {
		return ""
	}
	return fmt.Sprintf("and %d older ones", n-listed)
}

func linkRow(id idrl.SessionID, l identity.Invitation, now time.Time) templates.LinkRow {
	row := templates.LinkRow{
		ID: strconv.FormatInt(l.ID, 10), Made: clock(l.CreatedAt), Expires: clock(l.ExpiresAt), Used: l.Usage(), State: l.State(now),
	}
	if l.Live(now) {
		row.Revoke = sessionURL(id, "invitations", row.ID, "revoke")
	}
	return row
}

func personRow(id idrl.SessionID, a identity.Annotator) templates.PersonRow {
	row := templates.PersonRow{
		ID: string(a.ID), Name: string(a.ID), Joined: clock(a.JoinedAt), Seen: clock(a.SeenAt),
		Removed: !a.RevokedAt.IsZero(), State: a.State(),
		RemoveURL: sessionURL(id, "annotators", string(a.ID), "remove"),
		EraseURL:  sessionURL(id, "annotators", string(a.ID), "withdraw"), Erased: !a.WithdrawnAt.IsZero(),
	}
	if a.Name != "" {
		row.Name = fmt.Sprintf("%s (%s)", a.Name, a.ID)
	}
	row.Answers = templates.AnswersActions{
		Name: row.Name, URL: answersURL(id, a.ID), LeftOut: a.LeftOut, Turned: a.Turned > 0, Turn: true, Leave: row.Removed,
	}
	if a.Invitation != 0 {
		row.Link = strconv.FormatInt(a.Invitation, 10)
	}
	return row
}

// answersURL is the address of the forms that change how a person's answers count.
func answersURL(id idrl.SessionID, who idrl.AnnotatorID) string {
	return sessionURL(id, "annotators", string(who), "answers")
}

// clock returns a time as pages show it.
func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 Jan 2006, 15:04 UTC")
}
