package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/templates"
)

const (
	auditPath = "/audit"
	auditRows = 100 // on a page
)

// auditReader checks that an admin asks, and returns the filter of the request.
func (s watching) auditReader(c echo.Context) (f record.AuditFilter, err error) {
	if _, err := s.researcher(c, auth.ManageAccounts, ""); err != nil {
		return f, err
	}
	f = record.AuditFilter{
		Session: idrl.SessionID(c.QueryParam("session")), Actor: c.QueryParam("actor"), Action: c.QueryParam("action"), Answers: c.QueryParam("answers") != "",
	}
	if before := c.QueryParam("before"); before != "" {
		if f.Before, err = strconv.ParseInt(before, 10, 64); err != nil || f.Before < 1 {
			return f, idrl.Errorf(idrl.Invalid, "“before” is the number of a row.")
		}
	}
	return f, nil
}

// auditQuery is the opposite of auditReader.
func auditQuery(f record.AuditFilter) string {
	q := url.Values{}
	for name, v := range map[string]string{"session": string(f.Session), "actor": f.Actor, "action": f.Action} {
		if v != "" {
			q.Set(name, v)
		}
	}
	if f.Answers {
		q.Set("answers", "1")
	}
	if f.Before > 0 {
		q.Set("before", strconv.FormatInt(f.Before, 10))
	}
	return q.Encode()
}

// audit is GET /audit with the parameters session, actor, action, answers and before.
func (s watching) audit(c echo.Context) error {
	f, err := s.auditReader(c)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, pageWork)
	if err != nil {
		return err
	}
	defer leave()
	p := templates.AuditPage{
		Layout: s.layout(c, "Audit trail"), Back: "/sessions", Action: auditPath, Verify: "tiebreak audit verify",
		Session: string(f.Session), Actor: f.Actor, Choice: f.Action, Answers: f.Answers, Filtered: auditQuery(f) != "",
	}
	whole, page := f, f
	whole.Before, page.Limit = 0, auditRows+1
	p.CSV, p.Lines = auditPath+"/csv?"+auditQuery(whole), auditPath+"/jsonl?"+auditQuery(whole)
	err = s.cfg.Settings.AuditTrail(c.Request().Context(), page, func(e record.AuditEntry) error {
		if len(p.Rows) == auditRows {
			p.Older = auditPath + "?" + auditQuery(f)
			return nil
		}
		f.Before = e.Position
		p.Rows = append(p.Rows, auditRow(e))
		return nil
	})
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, templates.Audit(p))
}

func auditRow(e record.AuditEntry) templates.AuditRow {
	r := templates.AuditRow{
		Position: strconv.FormatInt(e.Position, 10), At: e.At.UTC().Format("2006-01-02 15:04:05"), Session: string(e.Session), Actor: idrl.VisibleName(e.Actor),
		Action: e.Action, Object: idrl.VisibleName(e.Object), Erased: e.Erased,
	}
	if e.Session != "" {
		r.SessionURL = sessionURL(e.Session)
	}
	if e.Erased {
		r.Actor = "erased"
	}
	return r
}

// auditFile is GET /audit/csv and /audit/jsonl with the parameters of audit: all rows as a file, the last one first.
func (s watching) auditFile(c echo.Context) error {
	f, err := s.auditReader(c)
	if err != nil {
		return err
	}
	leave, err := s.heavyReply(c, fileWork)
	if err != nil {
		return err
	}
	defer leave()
	var put func(record.AuditEntry) error
	out := &csvFile{c: c, name: "tiebreak-audit.csv", columns: []string{"position", "at", "session", "actor", "action", "object", "erased", "hash"}}
	end := out.end
	switch c.Param("format") {
	case "csv":
		put = func(e record.AuditEntry) error {
			return out.put(e.Position, e.At.UTC().Format(time.RFC3339Nano), string(e.Session), e.Actor, e.Action, e.Object, e.Erased, e.Hash)
		}
	case "jsonl":
		h := c.Response().Header()
		h.Set(echo.HeaderContentType, "application/jsonl; charset=utf-8")
		h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", "tiebreak-audit.jsonl"))
		lines := json.NewEncoder(c.Response())
		put, end = func(e record.AuditEntry) error { return lines.Encode(e) }, func() error { return nil }
	default:
		return idrl.Errorf(idrl.NotFound, "The audit trail comes as csv or jsonl.")
	}
	ctx := c.Request().Context()
	err = s.cfg.Settings.AuditTrail(ctx, f, func(e record.AuditEntry) error {
		idrl.Pause(ctx)
		return put(e)
	})
	if err == nil {
		err = end()
	}
	if err != nil && committed(c) {
		s.log.Error("audit trail broken off", "err", err)
		panic(http.ErrAbortHandler) // a reader must not mistake a part for the whole
	}
	return err
}
