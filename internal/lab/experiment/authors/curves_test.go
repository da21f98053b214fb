package authors_test

import (
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/lab/experiment/authors"
)

// Every setting has the methods and lengths of README.md, and a few numbers are
// those of the tables that were published with the curves.
func TestCurves(t *testing.T) {
	lengths := map[string]int{"chain_state": 50, "gridworld_state": 50, "junction_state": 50, "junction_comparison": 150, "driver_comparison": 100}
	methods := map[string][]string{
		"chain_state": {"IDRL", "Uniform", "IGR", "EIR", "EPD"}, "gridworld_state": {"IDRL", "Uniform", "IGR", "EIR", "EPD"},
		"junction_state": {"IDRL", "Uniform", "IGR", "EIR", "EPD"}, "junction_comparison": {"IDRL", "Uniform", "IGR", "EPD"},
		"driver_comparison": {"Uniform", "IGR", "EPD", "EVR"}, "chain_comparison": nil, "gridworld_comparison": nil,
	}
	for setting, known := range methods {
		for _, method := range []string{"IDRL", "Uniform", "IGR", "EIR", "EPD", "EVR", "MR"} {
			c, ok := authors.CurveOf(setting, method)
			if want := slices.Contains(known, method); ok != want {
				t.Errorf("%s, %s: curve there is %v, want %v", setting, method, ok, want)
				continue
			}
			if ok {
				checkCurve(t, setting, method, c, lengths[setting])
			}
		}
	}
}

func checkCurve(t *testing.T, setting, method string, c authors.Curve, length int) {
	t.Helper()
	seeds := 30
	if setting == "driver_comparison" && method == "EPD" {
		length, seeds = 60, 20
	}
	if len(c.Queries) != length || c.Queries[length-1] != length || c.Seeds != seeds {
		t.Errorf("%s, %s: %d queries of %d seeds, want %d of %d", setting, method, len(c.Queries), c.Seeds, length, seeds)
	}
	other, none := c.MSEMean, c.CosineMean
	if setting == "driver_comparison" {
		other, none = none, other
	}
	for _, v := range [][]float64{c.RegretMean, c.RegretSE, c.RegretMedian, other} {
		if len(v) != length {
			t.Errorf("%s, %s: a column of %d numbers", setting, method, len(v))
		}
	}
	if none != nil {
		t.Errorf("%s, %s: a measure that was not recorded: %v", setting, method, none)
	}
}

func TestCurveNumbers(t *testing.T) {
	for _, test := range []struct {
		setting, method  string
		queries          int
		mean, se, median float64
	}{
		{"chain_state", "IDRL", 1, 34.971526, 5.8099878, 22.579116},
		{"chain_state", "EIR", 5, 7.481805, 1.8037, 2.1577319},
		{"junction_state", "IGR", 3, 12.007331, 1.4351505, 17.15333},
		{"junction_comparison", "Uniform", 6, 7.4331096, 1.5518963, 0},
		{"driver_comparison", "IGR", 1, 0.87945813, 0.24058644, 0.38308545},
	} {
		c, _ := authors.CurveOf(test.setting, test.method)
		i := test.queries - 1
		if c.RegretMean[i] != test.mean || c.RegretSE[i] != test.se || c.RegretMedian[i] != test.median {
			t.Errorf("%s, %s, %d: %v ± %v, median %v; want %v", test.setting, test.method, test.queries, c.RegretMean[i], c.RegretSE[i], c.RegretMedian[i], test)
		}
	}
}

func TestParseCurve(t *testing.T) {
	const head = "regret_se,n_queries,extra,regret_mean,n_seeds,regret_median,mse_mean,mse_se,mse_median\n"
	c, err := authors.ParseCurve(strings.NewReader(head + "0.5,1,words,2,30,1.5,9,8,7\n1e-3,2,,-1,30,0,6,5,4\n"))
	if err != nil || !slices.Equal(c.RegretMean, []float64{2, -1}) || !slices.Equal(c.RegretSE, []float64{0.5, 0.001}) || !slices.Equal(c.MSEMedian, []float64{7, 4}) || c.CosineMean != nil {
		t.Errorf("columns in another order: %+v, %v", c, err)
	}
	const plain = "n_queries,n_seeds,regret_mean,regret_se,regret_median\n"
	for _, test := range []struct{ name, text, says string }{
		{"empty", "", "no rows"},
		{"header only", plain, "no rows"},
		{"short row", plain + "1,30,2,3\n", "wrong number of fields"},
		{"no number", plain + "1,30,x,3,4\n", `"x" is no finite number`},
		{"infinite", plain + "1,30,Inf,3,4\n", "no finite number"},
		{"not a number", plain + "1,30,NaN,3,4\n", "no finite number"},
		{"gap", plain + "1,30,2,3,4\n3,30,2,3,4\n", "3 queries"},
		{"other seeds", plain + "1,30,2,3,4\n2,29,2,3,4\n", "29 seeds"},
		{"no seeds", plain + "1,0,2,3,4\n", "0 seeds"},
		{"no regret", "n_queries,n_seeds,mse_mean\n1,30,2\n", "regret"},
		{"no median", "n_queries,n_seeds,regret_mean,regret_se\n1,30,2,1\n", "regret"},
		{"no count", "n_seeds,regret_mean,regret_se,regret_median\n30,2,3,4\n", "n_queries is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := authors.ParseCurve(strings.NewReader(test.text)); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error = %v, want one that says %q", err, test.says)
			}
		})
	}
}

func TestTimings(t *testing.T) {
	for _, test := range []struct {
		setting, method string
		want            authors.Timing
		ok              bool
	}{
		{"chain_state", "EPD", authors.Timing{Select: 0.17034, Note: "mean of 2 queries"}, true},
		{"junction_comparison", "IDRL", authors.Timing{Select: 0.39033, Candidates: 0.00469, Rollouts: 0.01099, Note: "mean of 4 queries"}, true},
		{"driver_comparison", "EVR", authors.Timing{}, false},
		{"moon", "IDRL", authors.Timing{}, false},
	} {
		if got, ok := authors.TimingOf(test.setting, test.method); got != test.want || ok != test.ok {
			t.Errorf("%s, %s: %+v, %v; want %+v, %v", test.setting, test.method, got, ok, test.want, test.ok)
		}
	}
}

// The times of IDRL in Driver are words in a table; the numbers must be in them.
func TestDriverTimes(t *testing.T) {
	idrl, ok := authors.TimingOf("driver_comparison", "IDRL")
	notes := authors.DriverNotes()
	i := slices.IndexFunc(notes, func(n authors.Note) bool { return n.Item == "IDRL selection per query" })
	if !ok || idrl.Select != 4.6 || i < 0 || !strings.Contains(notes[i].Seconds, "about 4.6 for the configured 100") {
		t.Errorf("selection: %+v, %v, of notes %+v", idrl, ok, notes)
	}
	i = slices.IndexFunc(notes, func(n authors.Note) bool { return strings.HasPrefix(n.Item, "IDRL candidate policies") })
	if idrl.Candidates != 4.86 || i < 0 || notes[i].Seconds != "4.86" {
		t.Errorf("candidate policies: %+v, of notes %+v", idrl, notes)
	}
}
