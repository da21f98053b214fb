package loadtest

import (
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"
)

func TestParseMetrics(t *testing.T) {
	m, err := parseMetrics(strings.NewReader("# HELP x y\nprocess_cpu_seconds_total 1.5\na{b=\"c\"} 4\nprocess_resident_memory_bytes 1.2e+07 1700000000\nbroken\nnone x\n"))
	if err != nil || len(m) != 2 || m[processorMetric] != 1.5 || m[memoryMetric] != 12_000_000 {
		t.Errorf("%v, %v", m, err)
	}
}

// The waits of all but each annotator's first count, and quantiles are those of them.
func TestTimes(t *testing.T) {
	one := &Labeller{Waits: []time.Duration{time.Hour}}
	two := &Labeller{Waits: []time.Duration{time.Hour}}
	for k := range 50 {
		one.Waits = append(one.Waits, time.Duration(2*k+1)*time.Millisecond)
		two.Waits = append(two.Waits, time.Duration(2*k+2)*time.Millisecond)
	}
	r := Report{Seconds: 4}
	must.Do(t, r.times([]*Labeller{one, two}))
	if r.Answers != 100 || r.PerSecond != 25 || r.P50 != 50 || r.P99 != 99 || r.Max != 100 {
		t.Errorf("%+v", r)
	}
	if err := (&Report{}).times([]*Labeller{{}}); err == nil {
		t.Error("nothing was answered, and that is no error")
	}
}
