package rehearsed

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
)

// A Row is the rehearsals of one environment and type of question: sessions with default settings,
// each with one simulated person.
type Row struct {
	Env  string         `json:"env"`
	Kind idrl.QueryKind `json:"kind"`

	Right   float64     `json:"right"`       // share of random pairs of the first clips that the person is right about
	PaceS   float64     `json:"pace_s"`      // median of the response times, s
	Against string      `json:"against"`     // what the best policy is: "optimum", "search", "known" to the session (docs/simulate.md, section 4)
	First   uint64      `json:"first_seed"`  // the others follow it
	Answers []int       `json:"answers"`     // after which the recommended policy was compared with the truth; increasing
	Regret  [][]float64 `json:"true_regret"` // of each run after so many answers, as a share of the span, rounded to four decimals
}

// A Table is the rehearsals that are kept.
type Table struct {
	Rows []Row `json:"rehearsals"`
}

//go:embed rehearsals.json
var kept []byte

// Kept returns the rehearsals that the program comes with.
var Kept = sync.OnceValue(func() Table {
	t, err := Read(kept)
	if err != nil {
		panic(err) // the file is part of the program, and tested
	}
	return t
})

// fewest are the runs of which an interval can be stated: see At.
const fewest = 9

// Read reads a table. It returns an error of kind Invalid if it is none.
func Read(b []byte) (t Table, err error) {
	if err := json.Unmarshal(b, &t); err != nil {
		return t, idrl.Errorf(idrl.Invalid, "the file is no table of rehearsals: %v", err)
	}
	for _, r := range t.Rows {
		if err := r.check(); err != nil {
			return t, idrl.Errorf(idrl.Invalid, "rehearsals of %s, %s: %v", r.Env, r.Kind, err)
		}
	}
	return t, nil
}

func (r Row) check() error {
	switch {
	case r.Env == "" || len(r.Answers) == 0 || r.Answers[0] < 1 || !slices.IsSorted(r.Answers):
		return fmt.Errorf("the answers %v are not in order", r.Answers)
	case len(r.Regret) < fewest:
		return fmt.Errorf("%d runs are too few; %d are needed for an interval", len(r.Regret), fewest)
	}
	for _, run := range r.Regret {
		if len(run) != len(r.Answers) || slices.ContainsFunc(run, func(v float64) bool { return !(v >= 0 && v <= 1) }) {
			return fmt.Errorf("a run has the regrets %v after %v answers", run, r.Answers)
		}
	}
	return nil
}

// Encode returns the table as a file that Read reads, a line for each row.
func (t Table) Encode() ([]byte, error) {
	lines := make([]string, len(t.Rows))
	for i, r := range t.Rows {
		b, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("encode rehearsals of %s: %w", r.Env, err)
		}
		lines[i] = string(b)
	}
	return []byte("{\"rehearsals\": [\n" + strings.Join(lines, ",\n") + "\n]}\n"), nil
}

// Put replaces the row of an environment and type of question, or adds it, by the names of both.
func (t *Table) Put(r Row) {
	t.Rows = slices.DeleteFunc(t.Rows, func(o Row) bool { return o.Env == r.Env && o.Kind == r.Kind })
	at, _ := slices.BinarySearchFunc(t.Rows, r, func(a, b Row) int {
		switch x, y := a.Env+" "+string(a.Kind), b.Env+" "+string(b.Kind); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	t.Rows = slices.Insert(t.Rows, at, r)
}

// Find returns the rehearsals of an environment and type of question.
func (t Table) Find(env string, kind idrl.QueryKind) (Row, bool) {
	i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Env == env && r.Kind == kind })
	if i < 0 {
		return Row{}, false
	}
	return t.Rows[i], true
}

// Runs returns the number of rehearsals.
func (r Row) Runs() int { return len(r.Regret) }

// Most returns the most answers that were rehearsed.
func (r Row) Most() int { return r.Answers[len(r.Answers)-1] }

// Regret is the true loss of the recommended policy against the best one, as a share of the
// range from the worst to the best policy.
type Regret struct {
	Median float64

	// Low and High hold another such session with a probability of at least 80 %: of n rehearsals
	// they are the k-th smallest and the k-th largest, k = ⌊(n+1)/10⌋, between which one more
	// falls with the probability (n+1−2k)/(n+1), whatever the distribution. Source: S. S. Wilks,
	// "Determination of sample sizes for setting tolerance limits", Annals of Mathematical
	// Statistics 12 (1941).
	Low, High float64
}

// At returns the regret after n answers. Between the numbers of answers that were compared, each
// rehearsal is interpolated by a straight line. ok is false for fewer answers than the first of
// these, or more than the last.
func (r Row) At(n int) (out Regret, ok bool) {
	i, exact := slices.BinarySearch(r.Answers, n)
	if i == len(r.Answers) || i == 0 && !exact {
		return out, false
	}
	values := make([]float64, len(r.Regret))
	for j, run := range r.Regret {
		values[j] = run[i]
		if !exact {
			from, to := float64(r.Answers[i-1]), float64(r.Answers[i])
			values[j] = run[i-1] + (run[i]-run[i-1])*(float64(n)-from)/(to-from)
		}
	}
	slices.Sort(values)
	k := (len(values) + 1) / 10
	return Regret{Median: stats.Median(values), Low: values[k-1], High: values[len(values)-k]}, true
}

// Seconds returns the mean time that a person is assumed to take for a question: the mean of a
// log-normal distribution with the given median and the spread of simulated people
// (docs/simulate.md, section 3).
func Seconds(median time.Duration) float64 {
	const spread = 0.6 // standard deviation of the logarithm
	return median.Seconds() * math.Exp(spread*spread/2)
}

// Medians of the time for a question, as in rehearsals of studies and in docs/ways-of-asking.md.
const (
	medianOne   = 3 * time.Second
	medianGroup = 9 * time.Second
)

// SecondsOf returns the mean time of a person for a question of a type, in whole tenths of a second.
func SecondsOf(kind idrl.QueryKind) float64 {
	median := medianOne
	if kind.Group() {
		median = medianGroup
	}
	return math.Round(10*Seconds(median)) / 10
}
