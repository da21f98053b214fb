//go:build unix

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"go.yaml.in/yaml/v3"
)

// An alertCase says when an alert fires: at a minute of the values fires of its series, minute by minute in the notation
// of Prometheus, and not a minute earlier, nor ever by the values quiet.
type alertCase struct {
	minute int
	labels map[string]string // of the alert, beside those of the rule
	fires  map[string]string
	quiet  map[string]string
}

var (
	ofInstance = map[string]string{"instance": "a"}
	ofServer   = map[string]string{"instance": "a", "job": "tiebreak"}
	ofQueue    = map[string]string{"instance": "a", "job": "tiebreak", "state": "queued"}
)

// server returns a name of a metric with the labels of a server.
func server(name, more string) string {
	return metricPrefix + name + `{instance="a",job="tiebreak"` + more + `}`
}

// keeps is the case of an alert on one metric, from minute m of a value that is too much, or too little.
func keeps(m int, name, wrong, right string) alertCase {
	s := server(name, "")
	return alertCase{m, ofServer, map[string]string{s: wrong + "x90"}, map[string]string{s: right + "x90"}}
}

// delays are the counts of a histogram of acknowledgements, each minute so many of 1,000 within a second.
func delays(within string) map[string]string {
	const name = "acknowledge_seconds_bucket"
	return map[string]string{
		server(name, `,le="0.5"`): "0x90", server(name, `,le="1"`): within, server(name, `,le="2.5"`): "0+1000x90", server(name, `,le="+Inf"`): "0+1000x90",
	}
}

// waiting is a queued job, with so many places for jobs.
func waiting(places string) map[string]string {
	return map[string]string{
		server("jobs", `,state="queued"`): "1x90", server("workers", `,place="here"`): "0x90", server("workers", `,place="elsewhere"`): places,
	}
}

func alertCases() map[string]alertCase {
	slow := server("slow_clients_disconnected_total", "")
	return map[string]alertCase{
		"TiebreakNotReady": keeps(2, "ready", "0", "1"),
		"TiebreakDown": {
			2, ofServer,
			map[string]string{`up{instance="a",job="tiebreak"}`: "0x90"},
			map[string]string{`up{instance="a",job="tiebreak"}`: "1x90", `up{instance="a",job="another"}`: "0x90"},
		},
		"TiebreakSlow":         {11, ofInstance, delays("0+980x90"), delays("0+995x90")}, // rates are known from minute 1 on
		"TiebreakWriterBehind": keeps(1, "writer_queue_depth", "1001", "1000"),
		"TiebreakLogLarge":     keeps(15, "wal_bytes", "268435457", "268435456"),
		"TiebreakDiskFull":     keeps(5, "disk_free_bytes", "1073741823", "1073741824"),
		"TiebreakJobSilent":    keeps(5, "job_heartbeat_age_seconds", "601", "600"),
		"TiebreakJobsWait":     {10, ofQueue, waiting("0x90"), waiting("1x90")},
		"TiebreakSlowClients":  {11, ofServer, map[string]string{slow: "0+2x90"}, map[string]string{slow: "0+1x90"}}, // 22 from minute 0 to 11
		"TiebreakBackupOld":    keeps(60, "backup_age_seconds", "172801", "172800"),
	}
}

func needPromtool(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("promtool"); err != nil && os.Getenv("CI") != "" {
		t.Fatal("CI needs the package prometheus, which has promtool")
	} else if err != nil {
		t.Skip("no promtool found: install the package prometheus")
	}
}

// Prometheus can parse each expression of the dashboard, and says so of one with a mistake.
func TestDashboardIsParsedByPrometheus(t *testing.T) {
	t.Parallel()
	needPromtool(t)
	path := filepath.Join(t.TempDir(), "rules.yml")
	wrong := func(exprs ...string) (said string, failed bool) {
		var rules []map[string]any
		for i, e := range exprs {
			rules = append(rules, map[string]any{"record": fmt.Sprint("panel:", i), "expr": e})
		}
		text := must.Get(yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}}))(t)
		must.Do(t, os.WriteFile(path, text, 0o600))
		b, err := exec.Command("promtool", "check", "rules", path).CombinedOutput()
		return string(b), err != nil
	}
	exprs := dashboardExpressions(t)
	if said, failed := wrong(exprs...); failed || !strings.Contains(said, fmt.Sprint(len(exprs), " rules found")) {
		t.Errorf("the dashboard is wrong:\n%s", said)
	}
	for _, bad := range []string{`sum by (replay) tiebreak_ready`, `rate(tiebreak_ready)`, `histogram_quantile(tiebreak_ready[5m])`} {
		if said, failed := wrong(append(exprs, bad)...); !failed {
			t.Errorf("nothing is wrong with %s:\n%s", bad, said)
		}
	}
}

// The alerts fire when they should, and not before or else, as Prometheus evaluates them.
func TestAlertsFire(t *testing.T) {
	t.Parallel()
	needPromtool(t)
	text := must.Get(os.ReadFile("../../docs/operating/alerts.yml"))(t)
	if out, failed := testAlerts(t, string(text), text); failed {
		t.Errorf("the alerts are wrong:\n%s", out)
	}
	for _, expr := range []string{"vector(0) > 0", "vector(1) > 0"} { // never, always
		out, _ := testAlerts(t, withExpressions(t, text, expr), text)
		for alert := range alertCases() {
			if !strings.Contains(out, "alertname: "+alert+",") {
				t.Errorf("no test tells %s from %s:\n%s", alert, expr, out)
			}
		}
	}
}

// alertRule is a rule of an alert file.
type alertRule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

type alertFile struct {
	Groups []alertGroup `yaml:"groups"`
}

type alertGroup struct {
	Name  string      `yaml:"name"`
	Rules []alertRule `yaml:"rules"`
}

func readAlerts(t *testing.T, text []byte) (f alertFile) {
	t.Helper()
	must.Do(t, yaml.Unmarshal(text, &f))
	return f
}

// withExpressions returns an alert file in which every rule has the same expression.
func withExpressions(t *testing.T, text []byte, expr string) string {
	t.Helper()
	f := readAlerts(t, text)
	for _, g := range f.Groups {
		for i := range g.Rules {
			g.Rules[i].Expr = expr
		}
	}
	out := must.Get(yaml.Marshal(f))(t)
	return string(out)
}

// testAlerts has promtool test a file of alerts, which are expected with the texts and labels of the file meant.
func testAlerts(t *testing.T, rules string, meant []byte) (out string, failed bool) {
	t.Helper()
	dir, cases := t.TempDir(), alertCases()
	var tests []map[string]any
	for _, g := range readAlerts(t, meant).Groups {
		for _, r := range g.Rules {
			c, ok := cases[r.Alert]
			if !ok {
				t.Errorf("no case says when %s fires", r.Alert)
			}
			delete(cases, r.Alert)
			labels := maps.Clone(r.Labels)
			maps.Copy(labels, c.labels)
			firing := []map[string]any{{"exp_labels": labels, "exp_annotations": r.Annotations}}
			tests = append(tests,
				alertTest(c.fires, r.Alert, map[int][]map[string]any{c.minute - 1: {}, c.minute: firing}),
				alertTest(c.quiet, r.Alert, map[int][]map[string]any{c.minute: {}, 80: {}}))
		}
	}
	for alert := range cases {
		t.Errorf("there is no alert %s", alert)
	}
	test, err := yaml.Marshal(map[string]any{"rule_files": []string{"alerts.yml"}, "evaluation_interval": "1m", "tests": tests})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"alerts.yml": rules, "test.yml": string(test)} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	b, err := exec.Command("promtool", "test", "rules", filepath.Join(dir, "test.yml")).CombinedOutput()
	return string(b), err != nil
}

// alertTest is a test of promtool: of series, which alerts of a name fire at some minutes.
func alertTest(series map[string]string, alert string, at map[int][]map[string]any) map[string]any {
	var input, checks []map[string]any
	for name, values := range series {
		input = append(input, map[string]any{"series": name, "values": values})
	}
	for minute, firing := range at {
		checks = append(checks, map[string]any{"eval_time": fmt.Sprintf("%dm", minute), "alertname": alert, "exp_alerts": firing})
	}
	return map[string]any{"interval": "1m", "input_series": input, "alert_rule_test": checks}
}
