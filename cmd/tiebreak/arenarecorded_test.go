package main

import (
	"archive/zip"
	"encoding/csv"
	"html"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/base/words"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/data/recordings/recordingstest"
	"tiebreak/internal/people/bradley"
)

// importReachers imports rollouts of three policies in four tasks, of which two name starts.
func importReachers(t *testing.T, data, name string) {
	t.Helper()
	folder := t.TempDir()
	r := recordingstest.Reachers{
		Policies: []string{"secret-act", "secret-diffusion", "secret=pi"}, Tasks: []string{"put the cup down", "open the drawer", "stack the blocks", "close the door"}, Each: 4, Matched: 2,
	}
	if err := r.Write(folder); err != nil {
		t.Fatal(err)
	}
	mustCLI(t, "import", "--rollouts", folder, "--name", name, "--data", data)
}

// TestArenaOfRecordings: people compare policies that acted in imported rollouts, two episodes of one task at a time, which they are told, and not whose
// they are. A session about the rollouts enters as the policy that it recommends. Tasks take turns; the result is also about each task and group.
func TestArenaOfRecordings(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	importReachers(t, data, "reach")
	importReachers(t, data, "other")
	session, sessionLink := newLink(t, data, addr, "--env", "rollouts-reach", "--seed", "3", "--train-every", "2", "--adopt-after", "1")
	unnamed := t.TempDir()
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	if err := join(t, sessionLink, 1).Label(4); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	groups := filepath.Join(unnamed, "groups.csv")
	wrong := filepath.Join(unnamed, "wrong.csv")
	for path, text := range map[string]string{groups: "task,group\nopen the drawer,doors\nclose the door,doors\n", wrong: "open the window,doors\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ args, want string }{
		{"--entrant rollouts-reach:secret-act --entrant rollouts-reach:nobody", `no policy of rollouts-reach is called "nobody"; it has secret-act, secret-diffusion, secret=pi`},
		{"--entrant rollouts-reach:secret-act --entrant rollouts-other:secret-act", "policies of one set of recordings"},
		{"--entrant rollouts-reach:secret-act --entrant rollouts-gone:secret-act", "not in this data folder"},
		{"--entrant rollouts-reach:secret-act --entrant rollouts-reach:secret-act=Again", "are the same recorded policy"},
		{"--entrant rollouts-reach:secret-act", "2 to 20 policies; got 1"},
		{"--entrants gridworld", `there is no session "gridworld"`},
		{"--entrants rollouts-reach --task-groups " + wrong, `have no task "open the window"`},
		{"--entrants rollouts-reach --task-groups " + unnamed + "/none", "cannot be read"},
		{"--entrant rollouts-reach:secret-act --entrant rollouts-reach:secret-diffusion --entrant rollouts-reach:secret=pi --entrant " + session, "the same recorded policy"},
	} {
		if status, _, stderr := cli(t, append([]string{"arena", "new", "--data", data}, strings.Fields(test.args)...)...); status == 0 || !strings.Contains(stderr, test.want) {
			t.Errorf("an arena with %s: status %d, %s", test.args, status, stderr)
		}
	}

	id, link := newArenaLink(t, data, "--entrants", "rollouts-reach", "--task-groups", groups, "--seed", "11")
	var heard strings.Builder
	people := []uint64{21, 22, 23}
	for k, seed := range people {
		l := join(t, link, seed)
		if k == 0 {
			listenTo(t, l, &heard)
			readPages(t, link, id, &heard)
		}
		if err := l.Label(12); err != nil {
			t.Fatalf("%v\n%s", err, p.out)
		}
	}
	for _, secret := range []string{"secret", "e1.", "e2.", "e3.", `"e1"`, "seed 0", "entrant", "doors"} {
		if strings.Contains(heard.String(), secret) {
			t.Errorf("an annotator is told %q", secret)
		}
	}
	if !strings.Contains(heard.String(), "Task: open the drawer") && !strings.Contains(heard.String(), "Task: put the cup down") {
		t.Error("an annotator is not told the task")
	}

	r := arenaReport(t, data, id)
	if r.Answers != 36 || len(r.Tasks) != 4 || len(r.Groups) != 1 || r.Groups[0].Name != "doors" || r.Spread.Tasks != 4 || r.Spread.People != 3 || r.Entrants[0].Population == nil {
		t.Fatalf("the result is %+v", r)
	}
	if p := r.Pairing; p == nil || p.MatchedTasks != 2 || p.RandomTasks != 2 || p.Matched == 0 || p.Random == 0 || p.Matched+p.Random != r.Asked {
		t.Errorf("the pairing is %+v of %d questions", r.Pairing, r.Asked)
	}
	sum := 0
	for _, task := range r.Tasks {
		sum += task.Answers
		if task.Answers < 6 || task.Answers > 12 { // each pair goes through all tasks in turn
			t.Errorf("%d of 36 answers are about %q", task.Answers, task.Name)
		}
	}
	if sum != 36 {
		t.Errorf("the tasks have %d answers", sum)
	}
	shown := mustCLI(t, "arena", "show", id, "--data", data)
	for _, want := range []string{r.Meetings(), "matched by start, and", "GROUP OF TASKS", "stack the blocks", "tasks and people like these 4 tasks and 3 people"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not say %q:\n%s", want, shown)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(mustCLI(t, "arena", "show", id, "--data", data, "--tasks"))).ReadAll()
	if err != nil || len(rows) != 1+3*5 || !slices.Equal(rows[1][:3], []string{"task", r.Tasks[0].Name, r.Tasks[0].Group}) {
		t.Errorf("the table of tasks is %v, %v", rows, err)
	}
	sameWider(t, p, "http://"+addr, id, r)
	bundle := filepath.Join(t.TempDir(), "bundle.zip")
	mustCLI(t, "export", "--data", data, "--session", id, "--format", "bundle", "--out", bundle)
	z, err := zip.OpenReader(bundle)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if !slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, "learnt/tasks.csv") }) {
		t.Error("the bundle has no tasks.csv")
	}

	entered := 0 // the session with each policy that it does not recommend
	for _, e := range r.Entrants {
		status, out, stderr := cli(t, "arena", "new", "--data", data, "--entrant", session+"=Of the session", "--entrant", "rollouts-reach:"+e.Title)
		switch {
		case status != 0 && !strings.Contains(stderr, "the same recorded policy"):
			t.Errorf("the session with %s: %s", e.Title, stderr)
		case status == 0:
			entered++
			if mixed := arenaReport(t, data, strings.Fields(out)[1]); len(mixed.Entrants) != 2 || len(mixed.Tasks) != 4 || mixed.Tasks[0].Entrants[0].Title == "" {
				t.Errorf("with a session: %+v", mixed)
			}
		}
	}
	if entered != 2 {
		t.Errorf("the session enters with %d of the policies", entered)
	}
}

// sameWider checks that the page of an arena and the figure for download show the wider intervals of its report, and that both say what they are about.
func sameWider(t *testing.T, server *process, base, id string, r bradley.Report) {
	t.Helper()
	v := newVisitor(t)
	v.signIn(signInLink.FindString(server.out.String()))
	read := func(path string) string {
		var status int
		var body string
		waittest.Until(t, "a reply", func() bool {
			_, status, body = v.page(v.c.Get(base + path))
			return status == http.StatusOK
		})
		return html.UnescapeString(body)
	}
	page, figure := read("/sessions/"+id), read("/sessions/"+id+"/charts/strengths.svg")
	for _, e := range r.Entrants {
		want := "wider: " + words.Signed(e.Population.Low, 2) + " to " + words.Signed(e.Population.High, 2)
		for name, text := range map[string]string{"page": page, "figure": figure} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s does not say %q of %s", name, want, e.Title)
			}
		}
	}
	if asked := read("/sessions/" + id + "/questions"); !strings.Contains(asked, "It compared “secret") || strings.Contains(asked, "weighted sum") {
		t.Errorf("the page of questions does not say whom they compared, or is about a reward: %s", asked)
	}
	desc := regexp.MustCompile(`(?s)<desc [^>]*>(.*?)</desc>`).FindStringSubmatch(figure)
	if desc == nil || !strings.Contains(desc[1], r.Accounts()) || !strings.Contains(page, r.Accounts()) || !strings.Contains(page, r.AccountsOfTasks()) {
		t.Errorf("what the wider intervals are about, %q and %q, is not said; the figure says %q", r.Accounts(), r.AccountsOfTasks(), desc)
	}
}
