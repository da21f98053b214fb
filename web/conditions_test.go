package web_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/identity"
	"tiebreak/internal/session/view"
)

// twoConditions are scores of LVAR and Uniform, of which 10 held-out answers prefer a clip.
func twoConditions() view.ConditionScores {
	point := func(answers int, right float64) view.ScorePoint {
		return view.ScorePoint{Answers: answers, Decisive: 10, Right: right, Low: right/10 - 0.1, High: 0.96, Answered: 12, LogLoss: 0.5}
	}
	return view.ConditionScores{
		Questions: 15, Replies: 13, Equal: 10, Leads: []view.Lead{{Mean: -0.1, Low: -0.35, High: 0.15}},
		All: view.ConditionScore{Share: 1, Questions: 60, Answers: 50, Points: []view.ScorePoint{point(50, 9)}},
		Conditions: []view.ConditionScore{
			{Name: "lvar", Share: 0.75, Questions: 45, Answers: 38, Points: []view.ScorePoint{point(5, 6), point(10, 7.5), point(38, 8)}},
			{Name: "uniform", Share: 0.25, Questions: 15, Answers: 12, Points: []view.ScorePoint{point(5, 5), point(10, 6.5), point(12, 7)}},
		},
	}
}

// The page of a session with conditions shows how well each predicts, over the socket and as
// CSV; before there is a score it says what for it waits. Other pages have no such section.
func TestConditionsOnThePage(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if b.get(c, "/sessions/s1/learning").lacks("data-conditions") == nil {
		t.Error("a session without conditions has the section")
	}
	b.s1.spec.Controls, b.s1.spec.HeldOut = idrl.Controls{{Strategy: "uniform", Share: 0.25}}, 0.2
	page := b.get(c, "/sessions/s1/learning")
	if lacks := page.lacks("data-conditions", `href="/sessions/s1/conditions.csv"`, "after equally many answers", "1.10"); lacks != nil {
		t.Errorf("the page lacks %q", lacks)
	}
	if got := fact(b.get(c, "/sessions/s1/settings").body, "Strategy"); !strings.HasSuffix(got, " 75 %, Uniform 25 %; held out 20 %") {
		t.Errorf("chosen by %q", got)
	}
	type message struct {
		T, Sum, Empty, Equal string
		Rows                 []map[string]any
	}
	hear := func() (m message) {
		t.Helper()
		tab := b.open(b.researcher(), "/sessions/s1/watch")
		for m.T != "conditions" {
			must.Do(t, json.Unmarshal(tab.hear(), &m))
		}
		return m
	}
	b.s1.scores = view.ConditionScores{Conditions: []view.ConditionScore{{Name: "lvar", Share: 0.75}, {Name: "uniform", Share: 0.25}}}
	if m := hear(); m.Sum != "No comparison was held out yet." || !strings.Contains(m.Empty, "as soon as") || len(m.Rows) != 3 || m.Rows[0]["accuracy"] != "–" || m.Equal != "" {
		t.Errorf("before the first answer: %+v", m)
	}
	b.s1.scores = twoConditions()
	m := hear()
	if m.Empty != "" || m.Equal != "after 10 answers each" || !strings.HasPrefix(m.Sum, "15 comparisons were held out, and 13 answers were given. 1 answer says nothing about the clips: can’t tell, skipped or failed. The accuracy is computed from the 10 that prefer a clip, the log loss from these and from 2 ") {
		t.Errorf("%+v", m)
	}
	s := twoConditions()
	s.Replies, s.Again = 15, 1
	b.s1.scores = s
	for _, part := range []string{"15 answers were given. 1 answer repeats a pair that was already answered: only the first answer to each pair counts. 2 answers say nothing", "from the 10 that prefer"} {
		if sum := hear().Sum; !strings.Contains(sum, part) {
			t.Errorf("of 15 answers, 12 of which count: %q", sum)
		}
	}
	for _, row := range m.Rows {
		delete(row, "points")
	}
	want := []map[string]any{
		{"name": "LVAR", "share": "75 %", "questions": "45", "answers": "38", "accuracy": "80 % (70 to 96 %)", "log_loss": "0.50", "even": "75 % (65 to 96 %)", "lead": "–"},
		{"name": "Uniform", "share": "25 %", "questions": "15", "answers": "12", "accuracy": "70 % (60 to 96 %)", "log_loss": "0.50", "even": "65 % (55 to 96 %)", "lead": "−10 (−35 to +15)"},
		{"name": "All together", "share": "100 %", "questions": "60", "answers": "50", "accuracy": "90 % (80 to 96 %)", "log_loss": "0.50", "even": "–", "lead": "–"},
	}
	if d := cmp.Diff(want, m.Rows); d != "" {
		t.Error(d)
	}
	r := b.get(c, "/sessions/s1/conditions.csv")
	table, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	if err != nil || r.status != 200 || !strings.Contains(r.header.Get("Content-Disposition"), "tiebreak-s1-conditions.csv") {
		t.Fatalf("status %d, %v", r.status, err)
	}
	if len(table) != 8 || table[1][0] != "all" || table[3][0] != "lvar" || table[3][4] != "10" || table[3][6] != "7.5" || table[3][7] != "0.75" {
		t.Errorf("CSV: %v", table)
	}
	for _, who := range []string{"", "s1"} {
		visitor := b.browser()
		if who != "" {
			visitor = b.annotator(idrl.SessionID(who))
		}
		if r := b.get(visitor, "/sessions/s1/conditions.csv"); r.status == 200 || strings.Contains(r.body, "uniform") {
			t.Errorf("an annotator or a stranger reads the CSV: status %d", r.status)
		}
	}
}

// A program gets the scores that the page shows; of nothing decisive there is no accuracy.
func TestAPIScores(t *testing.T) {
	b := newBench(t, nil)
	token := b.token(identity.ScopeRead, "s1")
	b.s1.scores = twoConditions()
	b.s1.scores.All.Points[0].Decisive = 0
	want := `{"held_out":{"questions":15,"replies":13},"compared_after":10,` +
		`"all":{"condition":"all","share":1,"questions":60,"answers":50,"points":[{"answers":50,"decisive":0,"right":9,"accuracy":null,"accuracy_low":null,"accuracy_high":null,"answered":12,"log_loss":0.5}]},` +
		`"conditions":[{"condition":"lvar","share":0.75,`
	lead := `"condition":"uniform","share":0.25,"questions":15,"answers":12,"points":[{"answers":5,"decisive":10,"right":5,"accuracy":0.5,`
	r := b.api(token, "GET", "/s1/scores", "")
	if !strings.HasPrefix(r.body, want) || r.lacks(lead, `"lead":{"mean":-0.1,"low":-0.35,"high":0.15}}]}`) != nil {
		t.Errorf("scores = %s", r.body)
	}
}
