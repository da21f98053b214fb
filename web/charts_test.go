package web_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/insight"
	"tiebreak/web"
	"tiebreak/web/figure"
)

// seen puts a report and two questions into s1.
func (b *bench) seen() {
	b.t.Helper()
	at := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	r := &insight.Report{Seq: 7, Answers: 2, Forecasts: []insight.Forecast{{Seq: 3, P: []float64{0.75, 0.2, 0.05}, Actual: 0}, {Seq: 7, P: []float64{0.1, 0.85, 0.05}, Actual: 2}}}
	r.Fit = insight.Calibrate(r.Forecasts, insight.EvenSides, 1)
	r.Labour = insight.Labour{
		Replies: 2, Hours: []insight.Hour{{Begin: at.Truncate(time.Hour), Replies: 2}},
		Times: []insight.Times{{Annotator: "a1", N: 2, Q: [5]time.Duration{time.Second, time.Second, 1500 * time.Millisecond, 2 * time.Second, 2 * time.Second}}},
		Mix:   []insight.Share{{Choice: idrl.ChoseA, N: 1, Of: 0.5, From: 0.1, To: 0.9}, {Choice: idrl.Equal, N: 1, Of: 0.5, From: 0.1, To: 0.9}},
		Agree: &insight.Agreement{Questions: 4, Raw: 0.75, Alpha: 0.5},
	}
	question := func(seq int64) insight.Question {
		return insight.Question{
			Answer: idrl.Answer{Seq: seq, Annotator: "a1", Choice: idrl.ChoseA, ResponseMS: 1500, ReceivedAt: at},
			Assignment: record.Assignment{Query: idrl.Query{ID: "q", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c1", "c2"}}, Left: idrl.SideB, Why: record.Why{
				First: "g0.p1", Second: "pool.p2", Rivals: 9, PairStd: 0.5, Info: 0.25, Answerable: 0.9, Apart: 1.25,
				Purpose: record.ForValue, Best: [1 + record.MaxShares]record.Chance{record.ChanceOf(0.4), record.ChanceOf(0.3), record.ChanceOf(0.001)},
				Shares: [record.MaxShares]record.Share{{Policy: "pool.p2", Part: 0.625}, {Policy: "g0.p3", Part: 0.25}},
			}},
			Forecast: true, Predicted: insight.Prediction{Reply: []float64{0.75, 0.2, 0.05}},
			Policies: []insight.Policy{{ID: "g0.p1", Clip: "c1", Known: true, Then: record.ChanceOf(0.4), Now: 0.5}, {ID: "pool.p2", Clip: "c2", Known: true, Then: record.ChanceOf(0.3), Now: 0.002}, {ID: "g0.p3", Then: record.ChanceOf(0.001)}},
		}
	}
	undone := question(3)
	undone.Undone = true
	b.s1.set(live.EventAnswered, func() { b.s1.report, b.s1.questions = r, []insight.Question{question(7), undone} })
}

// Of a session whose answers are all imported the charts say that there are no times, and show the rest.
func TestChartsOfImportedAnswers(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.seen()
	b.s1.set(live.EventAnswered, func() {
		r := *b.s1.report
		r.Labour.Hours, r.Labour.Times = nil, nil
		b.s1.report = &r
	})
	r := b.get(c, "/sessions/s1/charts?page=people")
	if r.status != 200 || strings.Count(r.body, "All answers were imported") != 2 || r.lacks(`data-chart="answers"`, `data-chart="times"`, `data-chart="rate"`) != nil {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

// The page of questions says all that is known of each, and leads from page to page.
func TestQuestionsPage(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.get(c, "/sessions/s1/questions"); r.lacks("data-none", "No question has been answered yet") != nil {
		t.Errorf("without questions it lacks %q", r.lacks("data-none"))
	}
	b.seen()
	page := b.get(c, "/sessions/s1/questions")
	want := []string{
		`data-question="7"`, `data-clips="/sessions/s1/clips/c2 /sessions/s1/clips/c1"`, "Chose clip a.", "Clip b, then clip a", "75 %", "<dt>Picture difference, 0 to 6</dt><dd>1.2</dd>", "90 %", "0.25 nats",
		"g0.p1", "pool.p2", "P(best) when asked", "40 %", "30 %", "value, by the strategy LVAR", "counted as answered", "62 %", "The value that is left, 12 %, is about 7 other rivals.", `data-clips="/sessions/s1/clips/c1 /sessions/s1/clips/c2"`, "&lt; 1 %", "undone",
	}
	if lacks := page.lacks(want...); lacks != nil {
		t.Errorf("the page lacks %q", lacks)
	}
	b.s1.set(live.EventAnswered, func() { b.s1.questions[0].Assignment.Why.Apart = 0.94 })
	if r := b.get(c, "/sessions/s1/questions"); r.lacks("<dd>0.94: no difference at a glance</dd>") != nil {
		t.Error("nothing says that a picture difference is small")
	}
	one := b.get(c, "/sessions/s1/questions?answer=3")
	if one.lacks(`data-question="3"`, "undone") != nil || one.lacks("<html", `data-question="7"`) == nil {
		t.Errorf("one question: %s", one.body)
	}
	if r := b.get(c, "/sessions/s1/questions?part=1&before=7"); r.lacks(`data-question="3"`) != nil || r.lacks(`data-question="7"`) == nil {
		t.Errorf("the one before row 7: %s", r.body)
	}
	for _, bad := range []string{"?before=x", "?before=-1", "?answer=9999999999999999999"} {
		if r := b.get(c, "/sessions/s1/questions"+bad); r.status != 400 || r.lacks("number of a row") != nil {
			t.Errorf("%s: status %d, %s", bad, r.status, r.body)
		}
	}
}

// The charts hold their numbers in words too, and nothing that the policy of the page forbids.
func TestCharts(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	drawn := func(page string, want ...string) reply {
		t.Helper()
		r := b.get(c, "/sessions/s1/charts?page="+page)
		if lacks := r.lacks(want...); r.status != 200 || lacks != nil {
			t.Errorf("the charts of %s lack %q: status %d", page, lacks, r.status)
		}
		for _, bad := range []string{"<script", " style=", " onclick=", "NaN", "Inf"} {
			if strings.Contains(r.body, bad) {
				t.Errorf("the charts of %s hold %q", page, bad)
			}
		}
		return r
	}
	drawn("learning", "Shown from the first answer on.")
	drawn("people", "Shown from the first answer on.")
	drawn("asked", "No question is reserved now.")
	b.seen()
	b.s1.set(live.EventAnswered, func() {
		b.s1.open = []record.Assignment{{N: 41, Annotator: "a9", LeaseUntil: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC), Why: record.Why{First: "g0.p1", Second: "g0.p2", Rivals: 3, Info: 0.25}}}
	})
	drawn("learning", `data-charts-of="7"`, `role="img"`, "<desc", "Of 2 answers, 50 % were the most probable of clip a, clip b and equal.", "1 answer of 75 % predicted, 100 % came true",
		"Calibration error (ECE) 0.550", "Brier score", `href="/sessions/s1/charts/calibration"`)
	drawn("people", `data-charts-of="7"`, `role="img"`, "<desc", "75 % of pairs of answers are the same", "1.5 s")
	if r := drawn("asked", "10:00:00 UTC", "g0.p1 – g0.p2 and 2 more", "0.25 nats"); strings.Contains(r.body, "41") {
		t.Error("a reserved question has a number of its own beside those of answers")
	}
	b.s1.spec.Model = idrl.NetworkModel
	drawn("learning", "A network has no weights with names")
	b.s1.set(live.EventAnswered, func() {
		b.s1.report.Networks = []insight.Network{{Version: 1, BasedOn: 10, Clips: 18, Correlation: []float64{-0.25, math.NaN()}}, {Version: 2, BasedOn: 20, Clips: 18, Correlation: []float64{-0.75, math.NaN()}}}
	})
	r := drawn("learning", "Features that the networks reward", "over 18 clips", "<title>−0.25 at row 10</title>", `<th scope="row">20</th><td>−0.75</td><td>does not vary</td>`, "No intervals are known", `href="/sessions/s1/charts/networks"`)
	if strings.Contains(r.body, `data-chart="covariance"`) {
		t.Error("a network has correlations of weights")
	}
	if r := b.get(c, "/sessions/s1/charts/networks"); r.body != "network,row,clips,feature,correlation\n1,10,18,Lane,-0.25\n1,10,18,Speed,\n2,20,18,Lane,-0.75\n2,20,18,Speed,\n" {
		t.Errorf("networks as CSV: %q", r.body)
	}
}

// Ratings, and the best and the worst of groups, have their own charts, in numbers and words.
func TestChartsOfOtherKinds(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.s1.spec.Kind = idrl.RateClip
	if r := b.get(c, "/sessions/s1/charts?page=learning"); r.lacks("Shown from the first rating on.") != nil || r.lacks(`data-chart="calibration"`) == nil {
		t.Errorf("before the first rating: %s", r.body)
	}
	b.seen()
	report := *b.s1.report
	report.Forecasts, report.Fit = nil, insight.Calibration{}
	for k := range 40 {
		report.Ratings = append(report.Ratings, insight.RatingForecast{Seq: int64(k + 1), Rating: 0.2, RatingRange: insight.RatingRange{Mean: 0.1, Low: -0.3, High: 0.5}, PIT: 0.0125 * float64(k)})
	}
	report.FitRatings = insight.CalibrateRatings(report.Ratings)
	question := b.s1.questions[0]
	question.Predicted = insight.Prediction{Rating: &insight.RatingRange{Mean: 0.1, Low: -0.3, High: 0.5}}
	b.s1.set(live.EventAnswered, func() { b.s1.report, b.s1.questions = &report, []insight.Question{question} })
	want := []string{
		`data-chart="transforms"`, "Of 40 ratings, 50 % (35 to 65 %) lie in the predicted 50 % interval and 90 % (77 to 96 %) in the predicted 90 % interval.",
		"Rating minus prediction: +0.5 of 10 points on average (+0.5 to +0.5).", "Unevenness of the bins (χ²) 40.0", "more than chance explains", "1 to 8: each bin", "<title>40 to 50 %: 8 ratings</title>", `<th scope="row">90 to 100 %</th><td>0</td><td>1 to 8</td>`,
		`href="/sessions/s1/charts/transforms"`, `href="/sessions/s1/charts/ratings"`,
	}
	if r := b.get(c, "/sessions/s1/charts?page=learning"); r.lacks(want...) != nil {
		t.Errorf("the chart of ratings lacks %q", r.lacks(want...))
	}
	if r := b.get(c, "/sessions/s1/questions"); r.lacks("A rating of 5.5 of 10 on average, and from 3.5 to 7.5 with a probability of 90 %.") != nil {
		t.Error("a rating was predicted, which its question does not say")
	}
	if r := b.get(c, "/sessions/s1/charts/ratings"); !strings.HasPrefix(r.body, "row,rating,predicted,predicted_low,predicted_high,transform\n1,0.2,0.1,-0.3,0.5,0\n") {
		t.Errorf("ratings as CSV: %.120s", r.body)
	}

	b.s1.spec.Kind = idrl.GroupClips
	p := []float64{0.5, 0.1, 0.1, 0.1, 0.1, 0.1}
	groups := report
	groups.Best, groups.Worst = []insight.Forecast{{Seq: 4, P: p, Actual: 0}}, []insight.Forecast{{Seq: 4, P: []float64{0.05, 0.7, 0.1, 0.05, 0.05, 0.05}, Actual: 5}}
	groups.FitBest, groups.FitWorst = insight.Calibrate(groups.Best, insight.EvenClips, 1), insight.Calibrate(groups.Worst, insight.EvenClips, 1)
	question.Predicted, question.Answer.Choice, question.Answer.Best, question.Answer.Worst = insight.Prediction{Best: p, Worst: groups.Worst[0].P}, idrl.BestWorst, "a", "f"
	b.s1.set(live.EventAnswered, func() { b.s1.report, b.s1.questions = &groups, []insight.Question{question} })
	want = []string{
		`data-chart="calibration-best"`, `data-chart="calibration-worst"`, "1 answer of 50 % predicted, 100 % came true", "1 answer of 70 % predicted, 0 % came true",
		"Of 1 answer, 100 % named the most probable clip.", "0.83 without knowledge", "1.79 without knowledge",
	}
	if r := b.get(c, "/sessions/s1/charts?page=learning"); r.lacks(want...) != nil || r.lacks(`data-chart="transforms"`) == nil {
		t.Errorf("the charts of groups lack %q", r.lacks(want...))
	}
	if r := b.get(c, "/sessions/s1/questions"); r.lacks("Best: clip a", "Worst: clip f", "50 %", "70 %") != nil {
		t.Error("the question does not say what was predicted of its clips")
	}
	if r := b.get(c, "/sessions/s1/charts/group_predictions"); !strings.HasSuffix(r.body, "\n4,a,f,0.5,0.1,0.1,0.1,0.1,0.1,0.05,0.7,0.1,0.05,0.05,0.05\n") {
		t.Errorf("groups as CSV: %s", r.body)
	}
	if r := b.get(c, "/sessions/s1/charts/calibration"); strings.Count(r.body, "\n") != 21 || r.lacks(",best\n", ",worst\n") != nil {
		t.Errorf("bins of groups as CSV: %s", r.body)
	}
}

// Trainings that have ended are listed, the last ones on the page and all as CSV; why one failed is
// text.
func TestPastTrainings(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	if r := b.get(c, "/sessions/s1/charts?page=training"); r.lacks(`data-chart="trainings"`, "No training has ended yet.") != nil {
		t.Error("nothing says that there was no training")
	}
	at := time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)
	list := []record.PastTraining{
		{N: 22, BasedOn: 40, Answers: 37, Began: at.Add(time.Hour), Ended: at.Add(time.Hour + 95*time.Second), End: record.TrainingFailed, Why: "The reason: <b>no world</b>"},
		{N: 21, BasedOn: 38, Answers: 36, FollowUp: true, Began: at, Ended: at.Add(4200 * time.Millisecond), End: record.TrainingCancelled},
	}
	for n := int64(20); n > 0; n-- {
		list = append(list, record.PastTraining{N: n, BasedOn: 2 * (n - 1), Answers: int(2 * (n - 1)), Began: at, Ended: at.Add(300 * time.Millisecond), End: record.TrainingDone, Candidates: 6})
	}
	b.s1.set(live.EventTraining, func() { b.s1.trainings = list })
	r := b.get(c, "/sessions/s1/charts?page=training")
	want := []string{"g40", "1 min 35 s", "37", "failed", "The reason: &lt;b&gt;no world&lt;/b&gt;", "g38, search continued", "4.2 s", "cancelled", "under 1 s", "23 Nov 2026, 09:30 UTC", "Only the last 12 are listed; the CSV has all."}
	if r.lacks(want...) != nil || strings.Count(r.body, ">g")-strings.Count(r.body, ">g0.") != 12 {
		t.Errorf("the list of trainings lacks %q, or has not 12 rows: %s", r.lacks(want...), r.body)
	}
	r = b.get(c, "/sessions/s1/charts/trainings")
	rows, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	if err != nil || len(rows) != 23 || strings.Join(rows[1], ",") != "22,40,37,false,2026-11-23T10:30:00Z,2026-11-23T10:31:35Z,95,failed,0,The reason: <b>no world</b>" {
		t.Errorf("trainings as CSV: %v %q", err, r.body)
	}
}

// Every table has the columns that docs/dashboard.md explains, one row for each thing, and is
// whole or an error.
func TestChartTables(t *testing.T) {
	doc := must.Get(os.ReadFile("../docs/dashboard.md"))(t)
	_, section, _ := strings.Cut(string(doc), "\n### 2. The data of the charts\n")
	section, _, _ = strings.Cut(section, "\n## ")
	described := map[string]string{}
	for line := range strings.SplitSeq(section, "\n") {
		if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); ok && strings.HasPrefix(line, "| `") {
			described[name] = rest
		}
	}
	b := newBench(t, nil)
	c := b.researcher()
	b.seen()
	rows := map[string]int{"questions": 2, "calibration": 10, "predictions": 2, "rate": 1, "times": 1, "answers": 2, "candidates": 1}
	if len(described) != 18 {
		t.Errorf("%d tables are described", len(described))
	}
	data := b.get(c, "/sessions/s1/data")
	for name, text := range described {
		if slices.Contains([]string{"conditions", "group_predictions", "networks", "ratings", "strengths", "transforms", "verdicts"}, name) {
			if r := b.get(c, "/sessions/s1/charts/"+name); r.status != 404 || r.lacks("no such table in a session of this kind") != nil || data.lacks("charts/"+name+`"`) == nil {
				t.Errorf("a session of comparisons offers %s, or says %d: %s", name, r.status, r.body)
			}
			continue
		}
		if link := regexp.MustCompile(`href="/sessions/s1/charts/` + name + `" download>[A-Z][a-z][^<]{10,} <code>` + name + `</code>`); !link.MatchString(data.body) {
			t.Errorf("the page Data does not say what %s is", name)
		}
		r := b.get(c, "/sessions/s1/charts/"+name)
		all, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
		if err != nil || r.status != 200 || len(all) == 0 || r.header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("%s: status %d, %v, %q", name, r.status, err, r.body)
			continue
		}
		if want := fmt.Sprintf("tiebreak-s1-%s.csv", name); !strings.Contains(r.header.Get("Content-Disposition"), want) {
			t.Errorf("%s is saved as %q", name, r.header.Get("Content-Disposition"))
		}
		for _, column := range all[0] {
			if !strings.Contains(text, "`"+column+"`") {
				t.Errorf("docs/dashboard.md does not describe %s.%s", name, column)
			}
		}
		if n, ok := rows[name]; ok && len(all) != n+1 {
			t.Errorf("%s has %d rows, want %d", name, len(all)-1, n)
		}
		if name == "questions" && strings.Join(all[2], ",") != "3,a1,a,false,0.75,0.2,0.05,1.25,0.9,g0.p1,pool.p2,9,pool.p2 0.625; g0.p3 0.25,0.25,0.5,0,1500,value,0.4,pool.p2 0.3; g0.p3 0.001,false" {
			t.Errorf("a question: %q", all[2])
		}
	}
	b.s1.set(live.EventAnswered, func() { b.s1.fail = errors.New("broken") })
	if r := b.get(c, "/sessions/s1/charts/questions"); r.status != 500 || strings.HasPrefix(r.body, "row,") || r.header.Get("Content-Disposition") != "" {
		t.Errorf("where it fails: status %d, %v", r.status, r.header)
	}
}

// The page Data offers the tables and files that hold something in a session of that kind.
func TestDataOfKinds(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	offered := func(change func(*idrl.SessionSpec)) string {
		change(&b.s1.spec)
		var names []string
		for _, m := range regexp.MustCompile(`charts/([a-z_]+)" download`).FindAllStringSubmatch(b.get(c, "/sessions/s1/data").body, -1) {
			if !slices.Contains([]string{"questions", "leases", "trainings", "rate", "times", "answers", "candidates"}, m[1]) { // of all
				names = append(names, m[1])
			}
		}
		return strings.Join(names, " ")
	}
	for _, kind := range []struct {
		name   string
		change func(*idrl.SessionSpec)
		want   string
	}{
		{"comparisons", func(*idrl.SessionSpec) {}, "calibration predictions history covariance regret weights"},
		{"ratings", func(s *idrl.SessionSpec) { s.Kind = idrl.RateClip }, "transforms ratings history covariance regret weights"},
		{"verdicts", func(s *idrl.SessionSpec) { s.Kind = idrl.JudgeClip }, "transforms ratings history covariance verdicts regret weights"},
		{"groups", func(s *idrl.SessionSpec) { s.Kind = idrl.GroupClips }, "calibration group_predictions history covariance regret weights"},
		{"a network", func(s *idrl.SessionSpec) { s.Kind, s.Model = idrl.CompareClips, idrl.NetworkModel }, "calibration predictions networks"},
	} {
		if got := offered(kind.change); got != kind.want {
			t.Errorf("of %s: %s; want %s", kind.name, got, kind.want)
		}
	}
	b.s1.spec.HeldOut = 0.1
	for _, name := range figure.Of(b.s1.spec) {
		if r := b.get(c, "/sessions/s1/charts/"+name+".svg"); r.status == http.StatusNotFound {
			t.Errorf("there is no figure of %s", name)
		}
	}
	if r := b.get(c, "/sessions/s1/data"); r.lacks(`data-export="csv"`) != nil || r.lacks(`data-export="practice"`) == nil || r.lacks(`data-export="flags"`) == nil {
		t.Error("empty files are offered")
	}
}

// deeds notes what is audited.
type deeds struct {
	web.Settings
	list []string
}

func (d *deeds) Audit(ctx context.Context, id idrl.SessionID, actor, action, object string, now time.Time) error {
	d.list = append(d.list, fmt.Sprintf("%s: %s: %s: %s", id, actor, action, object))
	return d.Settings.Audit(ctx, id, actor, action, object, now)
}

// Who cancels a training is recorded, and it takes saying that one is sure.
func TestCancelIsAudited(t *testing.T) {
	var noted *deeds
	b := newBench(t, func(c *web.Config) {
		noted = &deeds{Settings: c.Settings}
		c.Settings = noted
	})
	c := b.researcher()
	b.s1.spec.Solver = idrl.ActorCritic
	if r := b.post(c, "/sessions/s1/training/cancel", nil); r.status != 400 || b.s1.cancels != 0 || len(noted.list) > 0 || r.lacks("Nothing was cancelled") != nil {
		t.Errorf("without being sure: status %d after %d calls: %s", r.status, b.s1.cancels, r.body)
	}
	if r := b.post(c, "/sessions/s1/training/cancel", url.Values{"sure": {"yes"}}); r.status != 303 || len(noted.list) != 1 || noted.list[0] != "s1: Ada: cancel training: from answer 0" {
		t.Errorf("status %d, %q", r.status, noted.list)
	}
}
