package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/quality"
)

// reported returns the rows of the tables of a report that are named, and its people by pseudonym.
func reported(report string) (numbers map[string]string, people map[string][]string) {
	numbers, people = map[string]string{}, map[string][]string{}
	for _, m := range regexp.MustCompile(`<td data-number="([^"]+)">(.*?)</td>`).FindAllStringSubmatch(report, -1) {
		numbers[m[1]] = html.UnescapeString(m[2])
	}
	for _, row := range regexp.MustCompile(`<tr data-person="([^"]+)">(.*?)</tr>`).FindAllStringSubmatch(report, -1) {
		for _, cell := range regexp.MustCompile(`<td>(.*?)</td>`).FindAllStringSubmatch(row[2], -1) {
			people[row[1]] = append(people[row[1]], html.UnescapeString(cell[1]))
		}
	}
	return numbers, people
}

// The numbers of a report are those of the CSV files of the session's page and of tiebreak quality, and the page hands over the
// file that the command writes.
func TestReportIsTrue(t *testing.T) {
	t.Parallel()
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "report.html")
	simulateRuns(t, "--runs", "1", "--env", "gridworld", "--answers", "24", "--conditions", "uniform=0.3", "--held-out", "0.3", "--repeat-every", "4", "--data", data)
	id := strings.Fields(mustCLI(t, "export", "--data", data))[0]
	mustCLI(t, "report", "--data", data, "--session", id, "-o", out)
	content := must.Get(os.ReadFile(out))(t)
	numbers, people := reported(string(content))
	same := func(key, want string) {
		t.Helper()
		if got := numbers[key]; got != want {
			t.Errorf("%s is %q in the report, want %q", key, got, want)
		}
	}
	labelledFolder{dir: data, session: idrl.SessionID(id)}.serve(t, envs.Catalogue(), func(a *app, base string) {
		client := researcher(t, a, base)
		if _, _, page := get(t, client, base+"/sessions/"+id+"/report"); page != string(content) {
			t.Error("the page hands over another report than the command writes")
		}
		read := func(name string) (rows []map[string]string) {
			_, _, body := get(t, client, base+"/sessions/"+id+"/"+name)
			all, err := csv.NewReader(strings.NewReader(body)).ReadAll()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, line := range all[1:] {
				row := map[string]string{}
				for i, cell := range line {
					row[all[0][i]] = cell
				}
				rows = append(rows, row)
			}
			return rows
		}
		number := func(text string) float64 {
			v := must.Get(strconv.ParseFloat(text, 64))(t)
			return v
		}
		regret := read("charts/regret")
		last := regret[len(regret)-1]
		for _, key := range []string{"p_within", "bound", "mean"} {
			same(key, fmt.Sprintf("%.4g", number(last[key])))
		}
		same("policies", last["policies"])
		right, n, loss, ece := 0.0, 0.0, 0.0, 0.0
		for _, bin := range read("charts/calibration") {
			if k := number(bin["answers"]); k > 0 {
				right, n, ece = right+number(bin["came_true"]), n+k, ece+math.Abs(k*number(bin["predicted"])-number(bin["came_true"]))
			}
		}
		for _, p := range read("charts/predictions") {
			loss -= math.Log(number(p["p_"+p["answer"]]))
		}
		same("right_answer", fmt.Sprintf("%.4g of %.0f", right/n, n))
		same("ece_answer", fmt.Sprintf("%.4g", ece/n))
		same("loss_answer", fmt.Sprintf("%.4g nats", loss/n))
		accuracy := ""
		for _, row := range read("conditions.csv") { // the last row of "all" is of all answers
			if row["condition"] == "all" {
				accuracy = fmt.Sprintf("%.4g (95 %% interval %.4g to %.4g, of %s)", number(row["accuracy"]), number(row["accuracy_low"]), number(row["accuracy_high"]), row["decisive"])
			}
		}
		same("accuracy", accuracy)
		if _, _, figure := get(t, client, base+"/sessions/"+id+"/charts/regret.svg"); !strings.Contains(string(content), regexp.MustCompile(`<path [^>]+fill="none"[^>]+>`).FindString(figure)) {
			t.Error("the report's figure of the regret is another than the page's")
		}
	})
	var q quality.Report
	must.Do(t, json.Unmarshal([]byte(mustCLI(t, "quality", "--data", data, "--session", id, "--json")), &q))
	same("shared", strconv.Itoa(q.Questions))
	same("people", "1")
	if len(people) != len(q.People) || len(people) != 1 {
		t.Fatalf("people: %q, want %d", people, len(q.People))
	}
	p := q.People[0]
	row := people[string(p.Annotator)]
	if want := fmt.Sprintf("%d of %d (%.0f to %.0f %%)", p.SaidSame, p.Repeats, 100*p.SameLow, 100*p.SameHigh); row[0] != strconv.Itoa(p.Answers) || p.Repeats == 0 || row[2] != want || row[6] != strconv.Itoa(p.Marked) || row[7] != "counts" {
		t.Errorf("the row of %s: %q; want %+v", p.Annotator, row, p)
	}
	if status, _, errs := cli(t, "report", "--data", data, "--session", id, "-o", out); status != 1 || !strings.Contains(errs, "not overwritten") {
		t.Errorf("a second time: status %d, %s", status, errs)
	}
	if status, _, errs := cli(t, "report", "--data", data, "--session", "none", "-o", out); status != 1 || !strings.Contains(errs, "lists the sessions") {
		t.Errorf("of no session: status %d, %s", status, errs)
	}
}

// TestBrowserReport: a report opens from a file without a single request, can be read on a desk, a telephone and paper, and axe
// finds nothing wrong with it.
func TestBrowserReport(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, out := t.TempDir(), filepath.Join(t.TempDir(), "report.html")
	runProgram(t, "simulate", "--runs", "1", "--env", "gridworld", "--answers", "5", "--data", data)
	mustCLI(t, "report", "--data", data, "--session", strings.Fields(mustCLI(t, "export", "--data", data))[0], "-o", out)
	b := newPerson(t, browser)
	b.open((&url.URL{Scheme: "file", Path: out}).String())
	b.wait("getComputedStyle(document.querySelector('main')).maxWidth === '1056px'") // its policy names these styles
	b.accessible("report")
	for _, width := range []int64{1280, 390} {
		b.resize(width, 844)
		b.noSideways(int(width))
	}
	if n := evaluate[int](b, `performance.getEntriesByType("resource").length`); n != 0 {
		t.Errorf("the report requests %d files", n)
	}
	if n := evaluate[int](b, `[...document.querySelectorAll("figure svg")].filter((s) => s.getBoundingClientRect().width > 300).length`); n < 5 {
		t.Errorf("%d figures are drawn", n)
	}
	b.shot("report")
}

// What data cards say can be changed while a session runs, each part alone, and stands in the report and in the bundle.
func TestDataCardOfASession(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	simulateRuns(t, "--runs", "1", "--env", "gridworld", "--answers", "3", "--licence", "MIT", "--data", data)
	id := strings.Fields(mustCLI(t, "export", "--data", data))[0]
	mustCLI(t, "session", "set", "--data", data, "--session", id, "--authors", "Mary <mary@example.org>; Bob", "--payment", "12 € an hour")
	mustCLI(t, "session", "set", "--data", data, "--session", id, "--recruitment", "By a notice.")
	if status, _, errs := cli(t, "session", "set", "--data", data, "--session", id, "--licence", strings.Repeat("x", idrl.MaxLicence+1)); status == 0 || !strings.Contains(errs, "licence") {
		t.Errorf("a licence that is too long: status %d, %s", status, errs)
	}
	out, bundle := filepath.Join(dir, "report.html"), filepath.Join(dir, "bundle")
	mustCLI(t, "report", "--data", data, "--session", id, "-o", out)
	content := must.Get(os.ReadFile(out))(t)
	numbers, _ := reported(string(content))
	for key, want := range map[string]string{"authors": "Mary <mary@example.org>; Bob", "licence": "MIT", "recruitment": "By a notice.", "payment": "12 € an hour"} {
		if numbers[key] != want {
			t.Errorf("%s is %q in the report, want %q", key, numbers[key], want)
		}
	}
	mustCLI(t, "export", "--data", data, "--session", id, "--format", "bundle", "--out", bundle)
	card := must.Get(os.ReadFile(filepath.Join(bundle, "README.md")))(t)
	for _, want := range []string{"license: mit\n", "| authors | Mary and Bob |", "| contact | mary@example.org |", "| licence | MIT |", "| how people were paid | 12 € an hour |", "size_categories:\n- n<1K\n"} {
		if !strings.Contains(string(card), want) {
			t.Errorf("the card of the bundle lacks %q:\n%s", want, card)
		}
	}
}
