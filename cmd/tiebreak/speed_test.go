package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/check/must"
)

// A measure is a row of what TestSpeed prints.
type measure struct {
	what       string
	value      float64
	limit      float64
	unit       string
	peer       string  // what was measured beside it
	comparable float64 // of the peer, in the same unit; 0 for no peer
}

func (m measure) kept() bool { return m.value <= m.limit }

// A pace is how much TestSpeed measures.
type pace struct {
	keys    int  // answers in a browser, of each environment
	answers int  // over a socket
	limits  bool // whether a limit that is missed fails
}

// TestSpeed measures what the annotator's page promises: how long a key takes, what the page weighs, and
// what is left behind by answers (docs/design.md, section 7). "task bench:page" runs it at
// length with its limits; else it is run for a few answers and without, so that it works.
func TestSpeed(t *testing.T) {
	t.Parallel()
	p := pace{keys: 5, answers: 60}
	if n, err := strconv.Atoi(os.Getenv("TIEBREAK_SPEED")); err == nil {
		p = pace{keys: max(200, n/16), answers: n, limits: true}
	}
	browser := startBrowserOf(t, wholeBrowsers) // as people have it
	var all []measure
	list := []string{"driver"}
	if p.limits && mujoco.Unavailable() == nil {
		list = append(list, "ant")
	}
	for _, env := range list {
		empty := newPerson(t, browser).timesEmpty(p.keys/2 + 1)
		rows := newPerson(t, browser).timesKeys(env, p.keys)
		after := newPerson(t, browser).timesEmpty(p.keys/2 + 1) // the load of a machine changes
		rows[0].peer, rows[0].comparable = "empty page", p95(append(empty.Frames, after.Frames...))
		rows[1].peer, rows[1].comparable = "echo", p95(append(empty.Acks, after.Acks...))
		all = append(all, rows...)
	}
	all = append(all, leavesBehind(t, p.answers)...)
	t.Logf("%d keys, %d answers over a socket, load %s\n%s", p.keys, p.answers, load1(), tabulated(all))
	for _, m := range all {
		if p.limits && !m.kept() {
			t.Errorf("%s is %.3g %s, at most %.3g is allowed", m.what, m.value, m.unit, m.limit)
		}
	}
}

// tabulated lists measures, their limits, and what they are compared with.
func tabulated(list []measure) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tmeasured\tlimit\tunit\tbeside it\tratio")
	for _, m := range list {
		ratio := "\t"
		if m.comparable > 0 {
			ratio = fmt.Sprintf("%s: %.3g\t%.2g", m.peer, m.comparable, m.value/m.comparable)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%.4g\t%s\t%s\n", m.what, m.value, m.limit, m.unit, ratio)
	}
	_ = w.Flush() // to memory
	return b.String()
}

// load1 is how many processes wanted a processor in the last minute, as the system says it.
func load1() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return fmt.Sprintf("%s on %d processors", one, runtime.NumCPU())
}

// p95 is the 95th percentile of values, which it sorts.
func p95(values []float64) float64 {
	slices.Sort(values)
	return values[(len(values)*95+99)/100-1]
}

// leavesBehind answers over a socket and measures what the server holds for an answer afterwards.
func leavesBehind(t *testing.T, answers int) []measure {
	t.Helper()
	_, labellers := load{env: "driver", sessions: 1, each: 1, trainEvery: 200}.openOn(t)
	l := labellers[0]
	early := max(10, answers/8)
	must.Do(t, l.GoOn(early))
	before := held()
	must.Do(t, l.GoOn(answers))
	after := held()
	t.Logf("held after %d answers: %+v; after %d: %+v", early, before, answers, after)
	return []measure{
		{what: "heap of the server, for an answer", value: float64(after.heap-before.heap) / 1024 / float64(answers-early), limit: 4, unit: "KiB"},
		{what: "goroutines more", value: float64(after.goroutines - before.goroutines), limit: 5, unit: ""},
		{what: "sockets and files more", value: float64(after.files - before.files), limit: 5, unit: ""},
	}
}

// resources are what this process holds.
type resources struct {
	heap              int64 // bytes that are in use after a collection
	goroutines, files int   // files: with sockets; 0 where the system does not tell
}

func held() resources {
	runtime.GC()
	runtime.GC() // also what finalizers let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	open, _ := os.ReadDir("/proc/self/fd") // Linux only
	return resources{heap: int64(m.HeapAlloc), goroutines: runtime.NumGoroutine(), files: len(open)}
}
