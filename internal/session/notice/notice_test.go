package notice_test

import (
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/people/quality"
	"tiebreak/internal/session/notice"
	"tiebreak/internal/session/view"
)

var now = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func kinds(list []notice.Notice) string {
	var out []string
	for _, n := range list {
		out = append(out, string(n.Kind))
	}
	return strings.Join(out, " ")
}

func TestOfStatus(t *testing.T) {
	mayStop := stopping.Stopping{Propose: true}
	for _, test := range []struct {
		name string
		st   view.Status
		want string
	}{
		{"nothing", view.Status{}, ""},
		{"may stop", view.Status{Stopping: mayStop}, "may_stop"},
		{"an objection", view.Status{Stopping: stopping.Stopping{Propose: true, Objections: []stopping.Objection{{Code: "fit"}}}}, ""},
		{"reversed", view.Status{Annotators: []quality.AnnotatorStats{{Reversed: true}, {Reversed: true, LeftOut: true}}}, "quality"},
		{"left out", view.Status{Annotators: []quality.AnnotatorStats{{Reversed: true, LeftOut: true}}}, ""},
		{"failed", view.Status{Training: view.Training{Err: "no world"}, Stopping: mayStop}, "may_stop training_failed"},
		{"an arena is decided", view.Status{Decided: true}, "may_stop"},
		{"closed", view.Status{State: record.StateClosed, Training: view.Training{Err: "no world"}, Stopping: mayStop}, ""},
	} {
		if got := kinds(notice.OfStatus(test.st)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	two := notice.OfStatus(view.Status{State: record.StateRunning, Annotators: []quality.AnnotatorStats{{Annotator: "a1", Reversed: true}, {Annotator: "a2", Reversed: true}}})
	if len(two) != 1 || two[0].Text != "2 people seem to answer the other way round." {
		t.Errorf("two reversed people: %+v", two)
	}
}

func TestOfSummary(t *testing.T) {
	for _, test := range []struct {
		name string
		s    record.Summary
		want string
	}{
		{"a day ago", record.Summary{Last: now.Add(-24 * time.Hour)}, "quiet"},
		{"an hour ago", record.Summary{Last: now.Add(-time.Hour)}, ""},
		{"nobody has begun", record.Summary{}, ""},
		{"all answers are there", record.Summary{Spec: idrl.SessionSpec{Budget: 5}, Answers: 5, Last: now.Add(-48 * time.Hour)}, ""},
		{"some are missing", record.Summary{Spec: idrl.SessionSpec{Budget: 5}, Answers: 4, Last: now.Add(-48 * time.Hour)}, "quiet"},
		{"paused", record.Summary{State: record.StatePaused, Last: now.Add(-48 * time.Hour)}, ""},
		{"cannot run", record.Summary{Paused: "no environment", Last: now.Add(-48 * time.Hour)}, ""},
	} {
		if test.s.State == "" {
			test.s.State = record.StateRunning
		}
		if got := kinds(notice.OfSummary(test.s, now, 24*time.Hour, nil)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := notice.OfSummary(test.s, now, 0, nil); got != nil {
			t.Errorf("%s: without a time %v", test.name, got)
		}
	}
}

// No answer is missed in a session that may stop, where annotators are then asked nothing more or are told that they are done.
func TestQuietAfterTheEnd(t *testing.T) {
	arena := idrl.Arena{Entrants: make([]idrl.Entrant, 2), Detect: idrl.DefaultDetect}
	for _, test := range []struct {
		name string
		spec idrl.SessionSpec
		want string
	}{
		{"stops by itself", idrl.SessionSpec{StopByItself: true, Budget: 50}, ""},
		{"an arena", idrl.SessionSpec{Arena: arena, Budget: 50}, ""},
		{"people are done", idrl.SessionSpec{}, ""},
		{"people are asked on", idrl.SessionSpec{AskOn: true}, "quiet"},
		{"people have a number of answers", idrl.SessionSpec{AnswersEach: 20}, "quiet"},
		{"answers are missing", idrl.SessionSpec{Budget: 50}, "quiet"},
	} {
		s := record.Summary{Spec: test.spec, State: record.StateRunning, Answers: 20, Last: now.Add(-48 * time.Hour)}
		if got := kinds(notice.OfSummary(s, now, 24*time.Hour, []notice.Notice{{Kind: notice.Failed}, {Kind: notice.MayStop}})); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if got := kinds(notice.OfSummary(s, now, 24*time.Hour, []notice.Notice{{Kind: notice.Failed}})); got != "quiet" {
			t.Errorf("%s, which may not stop: %q", test.name, got)
		}
	}
}

// What holds is fresh once, and again only after it had ended and a day has passed; kinds that are not looked at stay.
func TestBoard(t *testing.T) {
	var b notice.Board
	quiet, failed := []notice.Kind{notice.Quiet}, []notice.Kind{notice.MayStop, notice.Quality, notice.Failed}
	q, f := notice.Notice{Kind: notice.Quiet}, notice.Notice{Kind: notice.Failed, Text: "no world"}
	for _, step := range []struct {
		after       time.Duration
		kinds       []notice.Kind
		holds       []notice.Notice
		fresh, then string
	}{
		{0, quiet, []notice.Notice{q}, "quiet", "quiet"},
		{time.Minute, failed, []notice.Notice{f}, "training_failed", "quiet training_failed"},
		{2 * time.Minute, failed, []notice.Notice{f}, "", "quiet training_failed"},
		{3 * time.Minute, quiet, nil, "", "training_failed"},
		{4 * time.Minute, failed, nil, "", ""},
		{5 * time.Minute, failed, []notice.Notice{f}, "", "training_failed"}, // told today
		{6 * time.Minute, failed, nil, "", ""},
		{25 * time.Hour, failed, []notice.Notice{f}, "training_failed", "training_failed"},
	} {
		if fresh := kinds(b.Set("s", step.kinds, step.holds, now.Add(step.after))); fresh != step.fresh {
			t.Errorf("after %v: fresh %q, want %q", step.after, fresh, step.fresh)
		}
		if then := kinds(b.Of("s")); then != step.then {
			t.Errorf("after %v: %q holds, want %q", step.after, then, step.then)
		}
	}
	if got := b.Of("s"); !got[0].Since.Equal(now.Add(25 * time.Hour)) {
		t.Errorf("since %v", got[0].Since)
	}
	if got := b.Of("other"); len(got) != 0 {
		t.Errorf("another session has %v", got)
	}
}
