//go:build unix

package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"go.yaml.in/yaml/v3"
)

// promFunctions are what expressions of the dashboard and the alerts may call.
var promFunctions = []string{"histogram_quantile", "increase", "rate", "sum", "label_values"}

// exportedNames returns the names that a server exports, with the labels of its own metrics; nil for those of others.
func exportedNames(t *testing.T, a *app) map[string][]string {
	t.Helper()
	out := map[string][]string{"up": nil}
	for _, m := range a.metrics() {
		name, labels := metricPrefix+m.name, append([]string{"instance", "job"}, m.labels...)
		if m.sizes == nil {
			out[name] = labels
			continue
		}
		out[name+"_bucket"], out[name+"_sum"], out[name+"_count"] = append(labels, "le"), labels, labels
	}
	others := prometheus.NewRegistry()
	others.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	families := must.Get(others.Gather())(t)
	for _, f := range families {
		out[f.GetName()] = nil
	}
	return out
}

var (
	promText   = regexp.MustCompile(`"[^"]*"`)
	promLabels = regexp.MustCompile(`([a-zA-Z_:][\w:]*)?\{([^}]*)\}`)
	promLabel  = regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)`)
	promGroup  = regexp.MustCompile(`\b(by|on|ignoring|without)\s*\(([^)]*)\)`)
	promWord   = regexp.MustCompile(`([a-zA-Z_:][\w:]*)(\s*\()?`)
	promSpan   = regexp.MustCompile(`\[\d+[smhd]\]`)
)

// wrongWith returns what is wrong with an expression: names of metrics, labels and functions that do not exist, and brackets.
func wrongWith(expr string, known map[string][]string) (out []string) {
	expr = promText.ReplaceAllString(expr, `""`)
	for _, m := range promLabels.FindAllStringSubmatch(expr, -1) {
		for _, l := range promLabel.FindAllStringSubmatch(m[2], -1) {
			if labels := known[m[1]]; labels != nil && !slices.Contains(labels, l[1]) {
				out = append(out, m[1]+" has no label "+l[1])
			}
		}
	}
	expr = promSpan.ReplaceAllString(promLabels.ReplaceAllString(expr, "$1 "), " ")
	expr = promGroup.ReplaceAllString(expr, " ")
	metrics := 0
	for _, m := range promWord.FindAllStringSubmatch(expr, -1) {
		_, is := known[m[1]]
		switch {
		case m[2] != "" && slices.Contains(promFunctions, m[1]), m[1] == "and", m[1] == "or", m[1] == "unless", m[1] == "instance":
		case m[2] == "" && is:
			metrics++
		default:
			out = append(out, "unknown: "+m[1])
		}
	}
	if metrics == 0 {
		out = append(out, "it names no metric")
	}
	if strings.Count(expr, "(") != strings.Count(expr, ")") || strings.ContainsAny(expr, "{}[]\"") && !strings.Contains(expr, `""`) {
		out = append(out, "its brackets do not match")
	}
	return out
}

// dashboardExpressions returns the expressions of all panels.
func dashboardExpressions(t *testing.T) (exprs []string) {
	t.Helper()
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("../../docs/operating/dashboard.json"))(t), &board))
	for _, p := range board.Panels {
		if p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("a panel %q without a title or an expression", p.Title)
		}
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	return exprs
}

// The expressions of the dashboard and of the alerts name only what a server exports.
func TestDashboardAndAlertsNameMetrics(t *testing.T) {
	t.Parallel()
	a, _ := stuck(t, 0)
	a.backedUp = noBackup
	known := exportedNames(t, a)
	exprs := dashboardExpressions(t)
	var alerts struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile("../../docs/operating/alerts.yml"))(t), &alerts))
	n := len(exprs)
	for _, g := range alerts.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Annotations["summary"] == "" || r.Labels["severity"] == "" {
				t.Errorf("an alert without a name, a summary or a severity: %+v", r)
			}
			exprs = append(exprs, r.Expr)
		}
	}
	if n < 15 || len(exprs)-n < 8 {
		t.Fatalf("%d expressions of the dashboard and %d alerts: are they read?", n, len(exprs)-n)
	}
	all := strings.Join(exprs, " ")
	for _, e := range exprs {
		for _, wrong := range wrongWith(e, known) {
			t.Errorf("%s: %s", e, wrong)
		}
	}
	for _, m := range a.metrics() { // what is exported is shown
		if !strings.Contains(all, metricPrefix+m.name) {
			t.Errorf("neither the dashboard nor an alert shows %s%s", metricPrefix, m.name)
		}
	}
	for _, bad := range []string{`tiebreak_redy == 0`, `rat(tiebreak_ready[5m])`, `sum(tiebreak_ready`, `tiebreak_jobs{stat="x"}`, `1 > 0`} {
		if wrongWith(bad, known) == nil {
			t.Errorf("nothing is wrong with %s", bad)
		}
	}
}
