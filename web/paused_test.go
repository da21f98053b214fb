package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/web"
	"tiebreak/web/client"
)

// fakeRows are the answers of a session. After them comes fail.
type fakeRows struct {
	noLog

	n    int
	fail error
}

func (f *fakeRows) Rows(_ context.Context, _ idrl.SessionID, yield func(record.Labelled) error) error {
	for seq := range int64(f.n) {
		l := record.Labelled{
			Answer: idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("id", seq)), Seq: seq + 1, Annotator: "a1", Choice: idrl.ChoseB, ReceivedAt: time.Unix(1.9e9, 0)},
			Query:  idrl.Query{ID: "q", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c1", "c2"}},
			Clips:  []idrl.Clip{{ID: "c1", Phi: []float64{1, 2}}, {ID: "c2", Phi: []float64{0, 0}}},
		}
		l.Withdrawn = seq == 1
		if err := yield(l); err != nil {
			return err
		}
	}
	return f.fail
}

// A session that cannot run still shows what is recorded of it, and everybody is told
// that it is paused: a researcher why, an annotator nothing of the server's files.
func TestPausedSession(t *testing.T) {
	for _, test := range []struct {
		name       string
		cause      error
		researcher string // is told
		annotator  string // is told
	}{
		{
			"files changed", fmt.Errorf("session s1: %w", idrl.Errorf(idrl.Invalid, `the files of environment "own-SECRET" have changed; restore those of version 1`)),
			"The files of environment &#34;own-SECRET&#34; have changed; restore those of version 1.", "missing on this server, or have changed",
		},
		{
			"damaged", fmt.Errorf("table SECRET: %w", idrl.Errorf(idrl.Damaged, "a part of the database is damaged and cannot be read")),
			"A part of the database is damaged and cannot be read.", "Stored data of the session are damaged",
		},
		{"fault", errors.New("SECRET"), "its log has the details", "page of the session says why"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := &fakeRows{n: 30}
			b := newBench(t, func(c *web.Config) { c.Exports = rows })
			ada, ann, link := b.researcher(), b.annotator("s1"), b.link("s1")
			b.sessions.paused = test.cause
			r := b.get(ada, "/sessions/s1")
			if r.status != 200 || r.lacks("data-paused", "Session s1", "Environment", "Driver", `data-export="csv"`, `data-export="jsonl"`,
				test.researcher, "29 of 40 answers", "<td>30</td>", "SECRET-OTHER") != nil {
				t.Errorf("status %d, lacks %q:\n%s", r.status, r.lacks("data-paused", test.researcher, "29 of 40 answers", "<td>30</td>"), r.body)
			}
			if strings.Contains(r.body, "<td>10</td>") {
				t.Error("the page lists every answer")
			}
			for _, format := range []string{"jsonl", "csv"} {
				if r := b.get(ada, "/sessions/s1/export?format="+format); r.status != 200 || strings.Count(r.body, "\n") < 30 {
					t.Errorf("export as %s: status %d\n%s", format, r.status, r.body)
				}
			}
			if r := b.get(ada, "/sessions"); r.status != 200 || r.lacks("Cannot run on this server.", "The files have changed.") != nil {
				t.Errorf("list: status %d", r.status)
			}
			for path, c := range map[string]*http.Client{"/sessions/s1/label": ann, link: b.browser()} {
				r := b.get(c, path)
				if r.status != 409 || r.lacks("This session is paused", "The session cannot go on at the moment. All answers that were saved are safe.", test.annotator) != nil || strings.Contains(r.body, "SECRET") {
					t.Errorf("%s: status %d\n%s", path, r.status, r.body)
				}
			}
			if _, err := client.Dial(t.Context(), link); err == nil || !strings.Contains(err.Error(), test.annotator) || strings.Contains(err.Error(), "&") {
				t.Errorf("a program is told %v", err)
			}

			rows.fail = idrl.Errorf(idrl.Damaged, "a part of the database cannot be read")
			if r := b.get(ada, "/sessions/s1"); r.status != 200 || r.lacks("data-unread", "Not all answers can be read. A part of the database", "<td>30</td>") != nil {
				t.Errorf("with damaged answers: status %d\n%s", r.status, r.body)
			}
			b.sessions.paused = nil
			if r := b.get(ada, "/sessions/s1"); r.status != 200 || strings.Contains(r.body, "data-paused") {
				t.Errorf("after the cause is gone: status %d", r.status)
			}
		})
	}
}

// What is busy or unknown is not paused.
func TestNotPaused(t *testing.T) {
	b := newBench(t, nil)
	ada := b.researcher()
	if r := b.get(ada, "/sessions/s7"); r.status != 404 {
		t.Errorf("unknown session: status %d", r.status)
	}
	b.sessions.paused = idrl.Errorf(idrl.Unavailable, "the session is being started again; try again")
	if r := b.get(ada, "/sessions/s1"); r.status != 503 || strings.Contains(r.body, "paused") {
		t.Errorf("busy session: status %d", r.status)
	}
}

func (*fakeRows) Participants(context.Context, idrl.SessionID) (map[idrl.AnnotatorID]record.Participant, error) {
	return map[idrl.AnnotatorID]record.Participant{}, nil
}
