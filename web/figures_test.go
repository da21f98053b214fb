package web_test

import (
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/web/figure"
)

// Every chart is also a figure, beside its data, for those who may watch the session.
func TestFigures(t *testing.T) {
	b := newBench(t, nil)
	c := b.researcher()
	b.seen()
	for _, name := range figure.Of(idrl.SessionSpec{Kind: idrl.CompareClips}) {
		r := b.get(c, "/sessions/s1/charts/"+name+".svg")
		if r.status != 200 || r.header.Get("Content-Type") != "image/svg+xml" || r.lacks("<svg ", "seed of the session", "n = ") != nil {
			t.Errorf("%s: status %d, %v, %s", name, r.status, r.header, r.body)
		}
		if want := `filename="tiebreak-s1-` + name + `.svg"`; !strings.Contains(r.header.Get("Content-Disposition"), want) {
			t.Errorf("%s is saved as %q", name, r.header.Get("Content-Disposition"))
		}
		if data := b.get(c, "/sessions/s1/charts/"+name); data.status != 200 || data.header.Get("Content-Type") != "text/csv; charset=utf-8" {
			t.Errorf("%s has no data: status %d", name, data.status)
		}
	}
	for _, name := range []string{"questions", "leases", "none"} {
		if r := b.get(c, "/sessions/s1/charts/"+name+".svg"); r.status != 404 {
			t.Errorf("%s, which is no chart: status %d", name, r.status)
		}
	}
	for page, names := range map[string][]string{
		"/sessions/s1/learning": {"regret", "candidates", "weights"}, "/sessions/s1/charts?page=learning": {"calibration", "history"},
		"/sessions/s1/charts?page=people": {"rate", "answers", "times"},
	} {
		r := b.get(c, page)
		for _, name := range names {
			if r.lacks(`href="/sessions/s1/charts/`+name+`"`, `href="/sessions/s1/charts/`+name+`.svg"`) != nil {
				t.Errorf("%s does not lead to %s", page, name)
			}
		}
	}
	if r := b.get(c, "/sessions/s1/charts?page=asked"); strings.Contains(r.body, ".svg") {
		t.Error("a table that is no chart has a figure")
	}
}
