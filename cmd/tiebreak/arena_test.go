package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/people/bradley"
	"tiebreak/web/wire"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// arenaReport is what 'tiebreak arena show' says.
func arenaReport(t *testing.T, data, id string) (r bradley.Report) {
	t.Helper()
	if err := json.Unmarshal([]byte(mustCLI(t, "arena", "show", id, "--data", data, "--json")), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// newArenaLink makes an arena by the command line.
func newArenaLink(t *testing.T, data string, args ...string) (id, link string) {
	t.Helper()
	out := strings.Fields(mustCLI(t, append([]string{"arena", "new", "--data", data}, args...)...))
	return out[1], out[3]
}

// TestArena: people compare the policies of two sessions, one also as it was at first, without
// being told which is which; what they say counts at once and exactly, whatever is taken back, and
// reaches no other session.
func TestArena(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	made := func(args ...string) (id, link string) { // policies as on a machine of any speed
		return newLink(t, data, addr, append(args, "--train-every", "2", "--adopt-after", "1")...)
	}
	first, firstLink := made("--env", "gridworld", "--title", "Alpha study", "--seed", "3")
	second, secondLink := made("--env", "gridworld", "--title", "Beta study", "--seed", "3", "--acquisition", "uniform")
	layout, layoutLink := made("--env", "gridworld", "--title", "Other layout", "--seed", "4")
	chain, chainLink := made("--env", "chain", "--title", "Other environment", "--seed", "3")
	idle, _ := made("--env", "gridworld", "--title", "Idle", "--seed", "3")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	for k, link := range []string{firstLink, secondLink, layoutLink, chainLink} {
		if err := join(t, link, uint64(k)).Label(4); err != nil {
			t.Fatalf("%v\n%s", err, p.out)
		}
	}
	exported := func() string {
		return mustCLI(t, "export", "--data", data, "--session", first) + mustCLI(t, "session", "show", first, "--data", data)
	}
	before := exported()
	id, link := newArenaLink(t, data, "--title", "Blind", "--seed", "11", "--entrant", first, "--entrant", second+"=Beta", "--entrant", first+"@0=At first")

	for _, test := range []struct{ entrants, want string }{
		{first + " " + layout, "different layouts"},
		{first + " " + chain, "must be of one environment"},
		{first + " " + idle, "has no policies yet"},
		{first + " nobody", `no session "nobody"`},
		{first + " " + id, "is an arena itself"},
		{first, "2 to 20 policies; got 1"},
		{first + " " + first, "are the same policy"},
		{first + " " + second + "@99", "has no log row 99"},
		{first + " " + second + "@x", "number of a row"},
	} {
		args := []string{"arena", "new", "--data", data}
		for e := range strings.FieldsSeq(test.entrants) {
			args = append(args, "--entrant", e)
		}
		if status, _, stderr := cli(t, args...); status == 0 || !strings.Contains(stderr, test.want) {
			t.Errorf("an arena of %s: status %d, %s", test.entrants, status, stderr)
		}
	}
	mustCLI(t, "session", "archive", second, "--data", data)
	if status, _, stderr := cli(t, "arena", "new", "--data", data, "--entrant", first, "--entrant", second); status == 0 || !strings.Contains(stderr, "archived") {
		t.Errorf("an arena of an archived session: status %d, %s", status, stderr)
	}
	if status, _, stderr := cli(t, "arena", "show", first, "--data", data); status == 0 || !strings.Contains(stderr, "is not an arena") {
		t.Errorf("a session shown as an arena: status %d, %s", status, stderr)
	}
	if status, _, stderr := cli(t, "session", "clone", id, "--data", data); status == 0 || !strings.Contains(stderr, "cannot be cloned") {
		t.Errorf("an arena is cloned: status %d, %s", status, stderr)
	}

	if r := arenaReport(t, data, id); r.Answers != 0 || r.More != nil || len(r.Entrants) != 3 || r.Entrants[2].After != 0 {
		t.Errorf("before the first answer: %+v", r)
	}
	var heard strings.Builder // all that an annotator gets
	one, two := join(t, link, 21), join(t, link, 22)
	listenTo(t, one, &heard)
	readPages(t, link, id, &heard)
	for _, err := range []error{one.Label(4), two.Label(3)} {
		if err != nil {
			t.Fatalf("%v\n%s", err, p.out)
		}
	}
	for _, secret := range []string{"Alpha", "Beta", "At first", first, second, "e1.", "e2.", "e3.", `"e1"`, "g0.p", "entrant"} {
		if strings.Contains(heard.String(), secret) {
			t.Errorf("an annotator is told %q", secret)
		}
	}
	if !strings.Contains(heard.String(), "clips/") {
		t.Error("nothing was heard")
	}
	both := arenaReport(t, data, id)
	counted := strings.Count(mustCLI(t, "arena", "show", id, "--data", data, "--answers"), "\n") - 1
	if both.Answers != 7 || counted != 7 || len(both.People) != 2 || both.People[0].Answers != 4 {
		t.Errorf("after 7 answers: %+v, %d rows", both, counted)
	}
	if text := mustCLI(t, "arena", "show", id, "--data", data); !strings.Contains(text, "7 answers of 2 people") || !strings.Contains(text, "Alpha study") {
		t.Errorf("it says:\n%s", text)
	}
	if list := mustCLI(t, "arena", "list", "--data", data); strings.Count(list, "\n") != 2 || !strings.Contains(list, "Alpha study, Beta, At first") {
		t.Errorf("the list is:\n%s", list)
	}

	// When a2 is left out or withdraws, only the answers of a1 count.
	mustCLI(t, "annotator", "answers", "--data", data, "--session", id, "--annotator", "a2", "--answers", "leave-out")
	alone := arenaReport(t, data, id)
	if alone.Answers != 4 || len(alone.People) != 1 {
		t.Errorf("without a2: %+v", alone)
	}
	mustCLI(t, "annotator", "answers", "--data", data, "--session", id, "--annotator", "a2", "--answers", "count")
	if diff := cmp.Diff(both, arenaReport(t, data, id), sameAnswers); diff != "" {
		t.Errorf("a2 counts again:\n%s", diff)
	}
	p.kill()
	p = startServer(t, "serve", "--data", data, "--addr", addr)
	if diff := cmp.Diff(both, arenaReport(t, data, id), sameAnswers); diff != "" {
		t.Errorf("after the server was killed:\n%s", diff)
	}
	if err := one.Conn.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	given := maps.Clone(one.Acked)
	if err := one.Label(5); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	if r := arenaReport(t, data, id); r.Answers != 8 {
		t.Errorf("%d answers after one more", r.Answers)
	}
	for last := range one.Acked {
		if !given[last] {
			undo(t, one, last)
		}
	}
	if diff := cmp.Diff(both, arenaReport(t, data, id), sameAnswers); diff != "" {
		t.Errorf("after an answer and its undo:\n%s", diff)
	}
	mustCLI(t, "annotator", "withdraw", "--data", data, "--session", id, "--annotator", "a2", "--yes")
	if diff := cmp.Diff(alone, arenaReport(t, data, id), sameAnswers); diff != "" {
		t.Errorf("after a2 has withdrawn:\n%s", diff)
	}
	mustCLI(t, "export", "--data", data, "--session", id, "--format", "bundle", "--out", t.TempDir()+"/bundle.zip")
	if after := exported(); after != before {
		t.Error("the answers of an arena have reached a session of an entrant")
	}
}

// sameAnswers compares reports of logs that may differ in length.
var sameAnswers = cmpopts.IgnoreFields(bradley.Report{}, "Seq")

// listenTo notes what an annotator gets from now on, clips and all.
func listenTo(t *testing.T, l *loadtest.Labeller, heard *strings.Builder) {
	t.Helper()
	l.Recv = func(limit time.Time) (wire.FromServer, error) {
		m, err := l.Conn.RecvBy(limit)
		if err != nil {
			return m, err
		}
		fmt.Fprintf(heard, "%s\n", wire.Encode(m))
		if q, ok := m.(*wire.Query); ok {
			for _, path := range q.Clips {
				media, err := l.Conn.Clip(t.Context(), path)
				if err != nil {
					return m, err
				}
				shown, err := clip.Decode(media)
				if err != nil {
					return m, err
				}
				header, err := json.Marshal(shown.Header)
				fmt.Fprintf(heard, "%s %s\n", media, header)
				if err != nil {
					return m, err
				}
			}
		}
		return m, nil
	}
}

// readPages notes the pages that an annotator gets, with their headers.
func readPages(t *testing.T, link, id string, heard *strings.Builder) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	base, _, _ := strings.Cut(link, "/join/")
	note := func(res *http.Response, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		fmt.Fprintln(heard, res.StatusCode, res.Header, string(b))
		if err != nil {
			t.Fatal(err)
		}
	}
	note(c.Get(link))
	note(c.PostForm(link, url.Values{"name": {"Cy"}}))
	for _, path := range []string{"/label", "", "/arena", "/arena?format=json", "/answers", "/export", "/quality", "/learnt/now"} {
		note(c.Get(base + "/sessions/" + id + path))
	}
}

// undo takes an answer back.
func undo(t *testing.T, l *loadtest.Labeller, of idrl.AnswerID) {
	t.Helper()
	id := "undo-" + of
	if err := l.Conn.Send(&wire.Undo{ID: id, Of: of}); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(loadtest.Wait); ; {
		m, err := l.Conn.RecvBy(limit)
		if err != nil {
			t.Fatalf("until the undo of %s is acknowledged: %v", of, err)
		}
		if a, ok := m.(*wire.Ack); ok && a.ID == id {
			return
		}
	}
}

// TestSimulateArena: nothing is random in Driver, so each person is asked about each pair once. The
// simulated annotator says so, not that the arena is complete, and shows the true returns beside the
// result of the arena, with whose order its answers agree.
func TestSimulateArena(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	make3 := []string{"--title", "Three tastes", "--seed", "3", "--budget", "40"}
	var links []string
	for k := range 3 {
		id, link := newLink(t, data, addr, "--env", "driver", "--seed", "3", "--train-every", "2", "--adopt-after", "1")
		links, make3 = append(links, link), append(make3, "--entrant", fmt.Sprintf("%s=Study %d", id, k))
	}
	startServer(t, "serve", "--data", data, "--addr", addr)
	for k, link := range links {
		mustCLI(t, "simulate", "--url", link, "--expert", "perfect", "--answers", "8", "--seed", strconv.Itoa(3*k+1))
	}
	arena, link := newArenaLink(t, data, make3...)
	args := []string{"simulate", "--url", link, "--data", data, "--expert", "perfect", "--seed", "7", "--answers", "20"}
	for person := 1; person <= 2; person++ {
		said, each := mustCLI(t, args...), arenaReport(t, data, arena).Asked
		if each < 2 || each > 3 {
			t.Fatalf("%d questions about three pairs", each)
		}
		for _, want := range []string{
			fmt.Sprintf("%d answers given; there is no further question for this annotator (%d of 40 answers of all annotators). The server says: You have compared all clips of this session.", each, person*each),
			fmt.Sprintf("After %d answers the arena ranks", person*each), "3 of 3 pairs are in the order of the true reward.",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("person %d: it does not say %q:\n%s", person, want, said)
			}
		}
		need := fmt.Sprintf("A person is asked at most %d questions, so 40 answers take at least %d people.", each, (40+each-1)/each)
		if said := mustCLI(t, "arena", "show", arena, "--data", data); !strings.Contains(said, need) {
			t.Errorf("the result does not say %q:\n%s", need, said)
		}
	}
	if status, _, stderr := cli(t, append(args, "--matched")...); status == 0 || !strings.Contains(stderr, "an arena has no reward") {
		t.Errorf("matched: status %d, %s", status, stderr)
	}
}
