package main

import (
	"encoding/csv"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/people/identity"
	"tiebreak/web"
)

// A study with everything that people meet.
const wholeStudy = `env: gridworld
kind: state_comparison
title: Walk
budget: 40
answers_each: 20
consent: I agree to take part.
completion_code: C0DE
repeat_every: 6
gold_every: 5
conditions: [{strategy: uniform, share: 0.3}]
held_out: 0.2
exclude_gold: 0.1
exclude_after: 3
`

// rowsOf counts the rows of an export by a column.
func rowsOf(t *testing.T, table string) (rows int, by map[string]map[string]int) {
	t.Helper()
	all := must.Get(csv.NewReader(strings.NewReader(table)).ReadAll())(t)
	by = map[string]map[string]int{}
	for k, name := range all[0] {
		by[name] = map[string]int{}
		for _, row := range all[1:] {
			by[name][row[k]]++
		}
	}
	return len(all) - 1, by
}

// saidOf is the number with which a line of a report begins.
func saidOf(t *testing.T, out, line string) int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^  ` + line + ` +(\d+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no line %q in:\n%s", line, out)
	}
	n := must.Get(strconv.Atoi(m[1]))(t)
	return n
}

// TestRehearsalOfAStudy: a rehearsal has consent, practice, parts, gold questions, repeats and conditions. Its counts equal those of the
// export of its session, and a real study takes as many answers and people.
func TestRehearsalOfAStudy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, data := filepath.Join(dir, "study.yaml"), filepath.Join(dir, "rehearsed")
	must.Do(t, os.WriteFile(file, []byte(wholeStudy), 0o600))
	out := simulateRuns(t, "--study", file, "--runs", "1", "--seed", "5", "--wage", "12", "--data", data)
	id := strings.Fields(mustCLI(t, "export", "--data", data))[0]
	rows, by := rowsOf(t, mustCLI(t, "export", "--data", data, "--session", id, "--format", "csv", "--all"))
	people := len(by["annotator_id"])
	for line, want := range map[string]int{
		"rows": rows, "gold": by["gold"]["true"], "held out": by["condition"]["held_out"], "people": people, "consent": people,
		"condition uniform": by["condition"]["uniform"], "condition lvar": by["condition"]["lvar"], "answers": 40,
		"practice answers": strings.Count(mustCLI(t, "export", "--data", data, "--session", id, "--format", "practice"), "\n"),
	} {
		if got := saidOf(t, out, line); got != want || want == 0 {
			t.Errorf("%s: it says %d, the data have %d\n%s", line, got, want, out)
		}
	}
	if saidOf(t, out, "repeats") == 0 || !strings.Contains(out, "consent            "+strconv.Itoa(people)+" of "+strconv.Itoa(people)) {
		t.Errorf("nobody is asked again, or not everybody agreed:\n%s", out)
	}
	if by["consent_version"]["1"] != rows {
		t.Errorf("%v: not all rows have the consent", by["consent_version"])
	}
	if show := mustCLI(t, "session", "show", id, "--data", data); !strings.Contains(show, `"Rehearsal": true`) {
		t.Errorf("the session is not marked: %s", show)
	}

	real, addr := filepath.Join(dir, "data"), freeAddr(t)
	mustCLI(t, "session", "create", "-f", file, "--data", real)
	startServer(t, "serve", "--data", real, "--addr", addr)
	link := regexp.MustCompile(`http\S+`).FindString(mustCLI(t, "invite", "new", "--data", real, "--addr", addr))
	for range people {
		simulateRuns(t, "--url", link, "--data", real, "--matched", "--answers", "40", "--seed", "5")
	}
	id = strings.Fields(mustCLI(t, "export", "--data", real))[0]
	if n, by := rowsOf(t, mustCLI(t, "export", "--data", real, "--session", id, "--format", "csv")); n != rows || len(by["annotator_id"]) != people {
		t.Errorf("the study took %d answers of %d people; rehearsed were %d of %d", n, len(by["annotator_id"]), rows, people)
	}
}

// The numbers of a report follow from the runs: cost is hours times wage, and shares have their intervals.
func TestRehearsalReport(t *testing.T) {
	t.Parallel()
	var results []runResult
	for i, hours := range []float64{2, 4} {
		results = append(results, runResult{
			Run: rehearsal.Run{Seed: uint64(i)}, Taken: time.Duration(hours * float64(time.Hour)), //nolint:gosec // few
			Facts: runFacts{Answers: 100 + 20*i, People: 10, Complete: true, States: true, MayStop: int64(50 * i)},
		})
	}
	r := expectedOf("x", runPlan{Pace: time.Second}, 15, results)
	h := rehearsal.Expect([]float64{2, 4})
	want := map[string]string{
		"answers": "110 (0 to 330)", "time": "3 hours (0 to 25)", "people": "10 (10 to 10)",
		"cost":     strconv.FormatFloat(15*h.Mean, 'f', 2, 64) + " (" + strconv.FormatFloat(15*h.Low, 'f', 2, 64) + " to " + strconv.FormatFloat(15*h.High, 'f', 2, 64) + ")",
		"complete": "in 2 of 2 rehearsals the study comes to its end", "stop in time": "in 1 of 2 rehearsals the statement was good enough to stop before the end",
	}
	for _, l := range r.Lines {
		if l.Value != want[l.Name] {
			t.Errorf("%s: %q, want %q", l.Name, l.Value, want[l.Name])
		}
		delete(want, l.Name)
		// Wilson's interval of one of two: (1/2 + z²/4 ± z √(1/8 + z²/16))/(1 + z²/2) with z = 1.96
		if l.Name == "stop in time" && l.Note != "chance 50 % (9 % to 91 %); after 50 replies, the median" {
			t.Errorf("%q", l.Note)
		}
	}
	if len(want) > 0 || math.IsInf(h.High, 0) {
		t.Errorf("it lacks %v", want)
	}
}

// An arena of a data folder is rehearsed without a trace there, by the command and by the form, and its cost is told.
func TestRehearsalOfAnArena(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	var entrants []string
	var links []string
	for _, how := range []string{"lvar", "uniform"} {
		id, link := newLink(t, data, addr, "--env", "gridworld", "--title", how, "--seed", "3", "--acquisition", how, "--train-every", "2", "--adopt-after", "1")
		entrants, links = append(entrants, "--entrant", id), append(links, link)
	}
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	for k, link := range links {
		must.Do(t, join(t, link, uint64(k)).Label(4))
	}
	id, _ := newArenaLink(t, data, append(entrants, "--budget", "12", "--answers-each", "6", "--seed", "11")...)
	out := simulateRuns(t, "--session", id, "--data", data, "--runs", "2", "--wage", "10")
	if saidOf(t, out, "answers") != 12 || saidOf(t, out, "people") != 2 || !strings.Contains(out, "of 2 rehearsals a winner is found") ||
		!strings.Contains(out, "An arena learns no reward") || !strings.Contains(out, "10.00 for an hour") {
		t.Errorf("it says:\n%s", out)
	}
	v := newVisitor(t)
	v.signIn(signInLink.FindString(server.out.String()))
	page := v.rehearsedArena("http://"+addr, url.Values{"title": {"Which?"}, "now": {entrants[1], entrants[3]}, "budget": {"4"}, "wage": {"3600"}})
	if !strings.Contains(page, "4 (4 to 4)") || !strings.Contains(page, "3600.00 for an hour, for the time above") {
		t.Errorf("the form's rehearsal says:\n%s", page)
	}
	seconds := regexp.MustCompile(`<dt>time</dt>\s*<dd>([0-9.e+]+) seconds`).FindStringSubmatch(page)
	cost := regexp.MustCompile(`<dt>cost</dt>\s*<dd>([0-9.]+) `).FindStringSubmatch(page)
	if seconds == nil || cost == nil {
		t.Fatalf("it tells no time or no cost:\n%s", page)
	}
	s, _ := strconv.ParseFloat(seconds[1], 64)
	c, _ := strconv.ParseFloat(cost[1], 64)
	if math.Abs(c-s) > 0.06*s { // a wage of 1 a second; two digits of the time are shown
		t.Errorf("%v seconds cost %v", s, c)
	}
	if r := arenaReport(t, data, id); r.Answers != 0 {
		t.Errorf("the arena has %d answers after its rehearsal", r.Answers)
	}
	if list := mustCLI(t, "session", "list", "--all", "--data", data); strings.Count(list, "\n") != 4 || strings.Contains(list, "Rehearsal") {
		t.Errorf("the folder has other sessions:\n%s", list)
	}
}

// rehearsedArena has the form of a server rehearse an arena, and returns the page of its end.
func (v visitor) rehearsedArena(base string, form url.Values) (page string) {
	v.t.Helper()
	form.Set("do", "rehearse")
	path, _ := v.patiently(func() (*http.Response, error) { return v.c.PostForm(base+"/arenas", form) })
	waittest.Until(v.t, "the end of the rehearsal", func() bool {
		_, page = v.patiently(func() (*http.Response, error) { return v.c.Get(base + path) })
		return !strings.Contains(page, "data-progress")
	})
	return page
}

// outsideCart builds the cart of the tests of package outside, a program that speaks the protocol, and returns its description.
func outsideCart(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cart, path := filepath.Join(dir, "cart"), filepath.Join(dir, "cart.json")
	if b, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", cart, "tiebreak/internal/data/outside").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, b)
	}
	must.Do(t, os.WriteFile(path, []byte(`{"command": ["./cart"], "environment": {"TIEBREAK_TEST_OUTSIDE": "scene state"}}`), 0o600))
	return path
}

// An environment of another program has no reward: people have the taste of the session's prior, and the report says it.
func TestRehearsalOutside(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "study.yaml")
	must.Do(t, os.WriteFile(file, []byte("env: outside-cart\nbudget: 6\nanswers_each: 3\nquestions: any\nconsent: yes\n"), 0o600))
	out := simulateRuns(t, "--study", file, "--outside", outsideCart(t), "--runs", "1", "--pace", "100ms")
	if saidOf(t, out, "answers") != 6 || saidOf(t, out, "people") != 2 || !strings.Contains(out, "drawn from the session's prior") {
		t.Errorf("it says:\n%s", out)
	}
}

// A server rehearses what a form would make, and none of it is among its own sessions.
func TestRehearsalOfAForm(t *testing.T) {
	t.Parallel()
	a := newApp(t, site{base: "https://study.example.org", away: workplaceFlags{here: 1}})
	must.Do(t, a.db.AddUser(t.Context(), "ada", identity.Researcher, time.Now()))
	ask := web.Rehearsal{Right: 0.8, MedianS: 3, Wage: 10, Spec: idrl.SessionSpec{Title: "Walk", Env: "gridworld", Kind: idrl.CompareStates, Budget: 6, AnswersEach: 3, Consent: "I agree.", Seed: 4}}
	name, err := a.rehearser.Rehearse(t.Context(), ask, "ada")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.rehearser.Rehearse(t.Context(), ask, "ada"); idrl.KindOf(err) != idrl.Conflict {
		t.Errorf("two at a time: %v", err)
	}
	var state web.RehearsalState
	waittest.Until(t, "the end of the rehearsal", func() bool {
		state, err = a.rehearser.Rehearsed(t.Context(), name)
		return err != nil || state.Says == ""
	})
	if err != nil || state.Wrong != "" || state.Owner != "ada" {
		t.Fatalf("%+v, %v", state, err)
	}
	var said []string
	for _, l := range slices.Concat(state.Report.Lines, state.Report.Data) {
		said = append(said, l.Name+" "+l.Value)
	}
	for _, want := range []string{"answers 6 (6 to 6)", "people 2 (2 to 2)", "consent 2 of 2 people agreed"} {
		if !slices.Contains(said, want) {
			t.Errorf("it lacks %q: %q", want, said)
		}
	}
	if list, err := a.db.Sessions(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%d sessions of the server: %v", len(list), err)
	}
	if _, err := a.rehearser.Rehearse(t.Context(), web.Rehearsal{Right: 0.8, MedianS: 3, Spec: idrl.SessionSpec{Env: "gridworld", Seed: 4}}, "ada"); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a study without an end: %v", err)
	}
}

// newApp opens a server's parts, which end with the test.
func newApp(t *testing.T, at site) *app {
	t.Helper()
	a := must.Get(openApp(t.Context(), t.TempDir(), envs.Catalogue, at, slog.New(slog.DiscardHandler), program(t), "worker"))(t)
	t.Cleanup(func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// A session that is a rehearsal is not joined by a link, not listed and not told of, in the folder of a study too.
func TestRehearsalsAreApart(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	file := filepath.Join(data, "study.yaml")
	must.Do(t, os.WriteFile(file, []byte("env: gridworld\nkind: state_comparison\nbudget: 3\ntitle: Walk\n"), 0o600))
	mustCLI(t, "session", "create", "-f", file, "--data", data)
	simulateRuns(t, "--study", file, "--runs", "1", "--data", data)
	list, all := mustCLI(t, "session", "list", "--data", data), mustCLI(t, "session", "list", "--data", data, "--all")
	if strings.Contains(list, "Rehearsal with") || !strings.Contains(list, "1 rehearsals are not listed") || !strings.Contains(all, "Rehearsal with seed 1: Walk") {
		t.Errorf("the lists:\n%s\n%s", list, all)
	}
	if out := mustCLI(t, "export", "--data", data); strings.Count(out, "\n") != 1 || strings.Contains(out, "Rehearsal") {
		t.Errorf("export lists:\n%s", out)
	}
	id := regexp.MustCompile(`(?m)^(\S+) .*Rehearsal with`).FindStringSubmatch(all)[1]
	link := regexp.MustCompile(`http\S+`).FindString(mustCLI(t, "invite", "new", "--data", data, "--addr", addr, "--session", id))
	startServer(t, "serve", "--data", data, "--addr", addr)
	reply, err := http.Get(link) //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusNotFound {
		t.Errorf("a link into a rehearsal leads somewhere: %s", reply.Status)
	}
}

// Nothing is told of a rehearsal.
func TestNoNoticesOfRehearsals(t *testing.T) {
	t.Parallel()
	a := newApp(t, site{quiet: time.Hour, away: workplaceFlags{here: 1}})
	told := func(rehearses bool) int {
		t.Helper()
		spec := must.Get(newSession(t.Context(), a.db, a.envs(), idrl.SessionSpec{Title: "Walk", Env: "gridworld", Seed: 1, Rehearsal: rehearses}))(t)
		answerAQuestion(t, a, spec.ID)
		a.notices.Publish(spec.ID, live.Event{})
		must.Do(t, a.notices.look(t.Context(), time.Now().Add(2*time.Hour), true))
		return len(a.notices.board.Of(spec.ID))
	}
	if told(true) != 0 || told(false) != 1 {
		t.Error("it is told of a rehearsal, or not of a study")
	}
}
