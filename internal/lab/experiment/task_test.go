package experiment_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/experiment"
)

// The example of the documentation runs with every method that fits it, and its
// regret falls.
func TestDelivery(t *testing.T) {
	file := must.Get(os.Open("../../../docs/tasks/delivery.json"))(t)
	defer file.Close()
	task := must.Get(experiment.ReadTask(file))(t)
	c := experiment.Config{Task: task, Seeds: 2, FirstSeed: 1}
	c.Methods = fitting(c)
	for _, refused := range []string{"mr", "mr-simple", "eubo", "eir", "evr"} { // it has questions of both kinds
		if slices.Contains(c.Methods, refused) {
			t.Errorf("the task takes %s", refused)
		}
	}
	e := valid(t, c)
	if e.Title != "A delivery robot" || e.Answers != 25 || !strings.HasPrefix(e.Name(), "task-a-delivery-robot-") {
		t.Errorf("title %q, %d answers, name %q", e.Title, e.Answers, e.Name())
	}
	check(t, do(t, e, experiment.Options{}), true)
	e.Seeds, e.Methods = 40, []string{"idrl"}
	r := do(t, e, experiment.Options{})
	var first, last float64
	for _, runs := range r.Runs {
		first += runs[0].Regret[0] / float64(e.Seeds)
		last += runs[0].Regret[e.Answers] / float64(e.Seeds)
	}
	if !(last < first/2) {
		t.Errorf("mean regret %v at first and %v at last", first, last)
	}
}

// small is a task that every test changes a little.
const small = `{
  "features": ["x", "y"],
  "items": [{"id": "a", "features": [1, 0]}, {"id": "b", "features": [0, 1]}],
  "policies": [{"id": "p", "features": [9, 1]}, {"id": "q", "features": [1, 9]}],
  "queries": [{"rate": "a"}, {"compare": ["a", "b"]}]
}`

func read(s string) (*experiment.Task, error) { return experiment.ReadTask(strings.NewReader(s)) }

func TestTaskDefaults(t *testing.T) {
	task := must.Get(read(small))(t)
	if task.Title != "Task" || task.Budget != 50 || task.Prior.Variance != 1 || task.Answers.NoiseStd != 0.1 || task.Answers.Beta != 3 || task.Truth != nil {
		t.Errorf("defaults %+v", task)
	}
	other := must.Get(read(small + "\n"))(t)
	name := func(task *experiment.Task) string {
		return valid(t, experiment.Config{Task: task, Seeds: 1}).Name()
	}
	if name(task) == name(other) {
		t.Error("two files have results of one name")
	}
}

func TestMalformedTasks(t *testing.T) {
	prior := func(s string) string { return strings.Replace(small, `"queries"`, `"prior": `+s+`, "queries"`, 1) }
	for _, test := range []struct {
		name, task, want string
	}{
		{"nothing", "", "the task is not JSON: line 1, column 1: it ends too early"},
		{"cut", small[:60], "the task is not JSON: line 3, column 32: it ends too early"},
		{"a comma too many", strings.Replace(small, `"y"]`, `"y",]`, 1), "the task is not JSON: line 2, column 25: invalid character ']'"},
		{"not JSON", "title: x", "the task is not JSON: line 1, column 2"},
		{"a list", "[]", `task: line 1, column 1: "the whole" must be an object, not a list`},
		{"two values", small + "{}", "the task file continues after the closing brace: line 6, column 2"},
		{"a brace too many", small + "\n}", "the task file continues after the closing brace: line 7, column 1"},
		{"unknown field", strings.Replace(small, "policies", "polices", 1), `unknown field "polices"`},
		{"unknown field of a query", strings.Replace(small, "rate", "rating", 1), `unknown field "rating"`},
		{"text for a number", strings.Replace(small, "[9, 1]", `[9, "1"]`, 1), `task: line 4, column 46: "policies.features" must be a number within ±1e+09, not a text`},
		{"number for a text", strings.Replace(small, `"id": "p"`, `"id": 7`, 1), `"policies.id" must be a text, not number`},
		{"list for an object", strings.Replace(small, `{"rate": "a"}`, `["a"]`, 1), `task: line 5, column 15: "queries" must be an object, not a list`},
		{"object for a list", strings.Replace(small, `["x", "y"]`, `{"x": 1}`, 1), `task: line 2, column 15: "features" must be a list, not an object`},
		{"truth for a number", strings.Replace(small, "[9, 1]", "[9, true]", 1), "not true or false"},
		{"half an answer", strings.Replace(small, `"queries"`, `"budget": 2.5, "queries"`, 1), `task: line 5, column 15: "budget" must be a whole number, not number 2.5`},
		{"beyond all numbers", strings.Replace(small, "[9, 1]", "[9, 1e999]", 1), `task: line 4, column 48: "policies.features" must be a number within ±1e+09, not number 1e999`},
		{"beyond the limit", strings.Replace(small, "[9, 1]", "[9, -2e9]", 1), `task: number 1 of policies[0] ("p") is not within ±1e+09`},
		{"duplicate id", strings.Replace(small, `"id": "b"`, `"id": "a"`, 1), `task: items[1] needs an "id" of its own; got "a"`},
		{"no id", strings.Replace(small, `"id": "q"`, `"id": ""`, 1), `task: policies[1] needs an "id" of its own; got ""`},
		{"a number too many", strings.Replace(small, "[0, 1]", "[0, 1, 2]", 1), `task: items[1] ("b") has 3 numbers for 2 features`},
		{"a number too few", strings.Replace(small, "[1, 9]", "[1]", 1), `task: policies[1] ("q") has 1 numbers for 2 features`},
		{"no features", strings.Replace(small, `["x", "y"]`, `[]`, 1), `task: "features" must name 1 to 4096 features; it names 0`},
		{"one policy", strings.Replace(small, `, {"id": "q", "features": [1, 9]}`, "", 1), `task: "policies" must hold at least two; it holds 1`},
		{"no queries", strings.Replace(small, `{"rate": "a"}, {"compare": ["a", "b"]}`, "", 1), `task: "items" and "queries" must not be empty`},
		{"unknown item", strings.Replace(small, `"rate": "a"`, `"rate": "c"`, 1), `task: queries[0] names item "c", which is not in "items"`},
		{"unknown item of a comparison", strings.Replace(small, `["a", "b"]}`, `["a", "d"]}`, 1), `task: queries[1] names item "d", which is not in "items"`},
		{"two forms", strings.Replace(small, `"rate": "a"`, `"rate": "a", "weights": {"a": 1}`, 1), `task: queries[0] must have exactly one of "rate" (an item), "compare" (two items) and "weights" (a number for each item)`},
		{"no form", strings.Replace(small, `{"rate": "a"}`, "{}", 1), "task: queries[0] must have exactly one of"},
		{"three items", strings.Replace(small, `["a", "b"]}`, `["a", "b", "a"]}`, 1), "task: queries[1] must have exactly one of"},
		{"itself", strings.Replace(small, `["a", "b"]}`, `["a", "a"]}`, 1), `task: queries[1] compares item "a" with itself`},
		{"no weights", strings.Replace(small, `"rate": "a"`, `"weights": {}`, 1), "task: queries[0] names no item"},
		{"a large weight", strings.Replace(small, `"rate": "a"`, `"weights": {"a": 1, "b": 1e10}`, 1), `task: queries[0] has a weight of "b" that is not within ±1e+09`},
		{"negative variance", prior(`{"variance": -1}`), `task: "prior.variance" must be a positive number, 1e-09 to 1e+09; got -1`},
		{"no variance", prior(`{"variance": 0}`), `task: "prior.variance" must be a positive number, 1e-09 to 1e+09; got 0`},
		{"asymmetric", prior(`{"covariance": [[1, 0.5], [0.4, 1]]}`), `task: "prior.covariance" is not symmetric: row 1 has 0.4 at 0, and row 0 has 0.5 at 1`},
		{"not positive definite", prior(`{"covariance": [[1, 2], [2, 1]]}`), `task: "prior.covariance": the covariance of a belief must be positive definite`},
		{"rows", prior(`{"covariance": [[1, 0]]}`), `task: "prior.covariance" has 1 rows for 2 features`},
		{"an empty row", prior(`{"covariance": [[1, 0], []]}`), `task: row 1 of "prior.covariance" has 0 numbers for 2 features`},
		{"a large covariance", prior(`{"covariance": [[1, 0], [0, 1e12]]}`), `task: number 1 of row 1 of "prior.covariance" is not within ±1e+09`},
		{"noise", strings.Replace(small, `"queries"`, `"answers": {"noise_std": 0}, "queries"`, 1), `task: "answers.noise_std" must be a positive number`},
		{"rationality", strings.Replace(small, `"queries"`, `"answers": {"beta": -3}, "queries"`, 1), `task: "answers.beta" must be a positive number`},
		{"budget", strings.Replace(small, `"queries"`, `"budget": 0, "queries"`, 1), `task: "budget" must be 1 to 1000000; got 0`},
		{"weights of the truth", strings.Replace(small, `"queries"`, `"true_weights": [1], "queries"`, 1), `task: "true_weights" has 1 numbers for 2 features`},
		{"a large truth", strings.Replace(small, `"queries"`, `"true_weights": [1, 1e10], "queries"`, 1), `task: number 1 of "true_weights" is not within ±1e+09`},
		{"too large", `{"title": "` + strings.Repeat("x", 64<<20) + `"}`, "the task file has more than 64 MB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			task, err := read(test.task)
			if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.want) || task != nil {
				t.Errorf("error %q, want Invalid with %q", err, test.want)
			}
		})
	}
}

// More than 100,000 queries are refused.
func TestTooManyRows(t *testing.T) {
	var task map[string]any
	must.Do(t, json.Unmarshal([]byte(small), &task))
	task["queries"] = slices.Repeat([]any{map[string]string{"rate": "a"}}, 100001)
	b := must.Get(json.Marshal(task))(t)
	if _, err := read(string(b)); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "task: at most 100000 items, policies and queries each") {
		t.Errorf("error %v, want that there are too many", err)
	}
}

// runOf returns the first run of a task.
func runOf(t *testing.T, task string, method string, answers int) experiment.Run {
	t.Helper()
	parsed := must.Get(read(task))(t)
	e := valid(t, experiment.Config{Task: parsed, Seeds: 1, FirstSeed: 5, Answers: answers, Methods: []string{method}})
	return do(t, e, experiment.Options{}).Runs[0][0]
}

// A covariance of two by two is the variance it states, and weights that are given
// are those that answers are about: a belief that has seen many ratings is near.
func TestTaskTruth(t *testing.T) {
	given := strings.Replace(small, `"queries": [{"rate": "a"}, {"compare": ["a", "b"]}]`,
		`"queries": [{"rate": "a"}, {"rate": "b"}], "true_weights": [2, -3], "prior": {"covariance": [[4, 0], [0, 4]]}`, 1)
	r := runOf(t, given, "igr", 100)
	// 50 ratings of each weight with noise of 0.1: the error of a weight is some 0.1²/50.
	if last := r.MSE[100]; !(last < 16*0.01/50) || math.Abs(r.MSE[0]-(4.0+9)/2) > 1e-12 {
		t.Errorf("squared error %v at first and %v at last", r.MSE[0], last)
	}
	if r.Regret[100] != 0 {
		t.Errorf("regret %v at last", r.Regret[100])
	}
	wide := strings.Replace(given, `"covariance": [[4, 0], [0, 4]]`, `"variance": 4`, 1)
	if other := runOf(t, wide, "igr", 100); !slices.Equal(other.MSE, r.MSE) || !slices.Equal(other.Regret, r.Regret) {
		t.Error("a covariance and the variance that it states give different runs")
	}
}

// Where nothing can be learnt from any query every method goes on, and the belief
// stays.
func TestUselessQueries(t *testing.T) {
	useless := strings.NewReplacer("[1, 0]", "[0, 0]", "[0, 1]", "[0, 0]").Replace(small)
	for _, kind := range []string{
		useless,
		strings.Replace(useless, `{"rate": "a"}, `, "", 1),
		strings.Replace(useless, `, {"compare": ["a", "b"]}`, "", 1),
		strings.Replace(small, `{"rate": "a"}, {"compare": ["a", "b"]}`, `{"weights": {"a": 0, "b": 0}}`, 1),
	} {
		task := must.Get(read(kind))(t)
		c := experiment.Config{Task: task, Seeds: 2, FirstSeed: 1, Answers: 6}
		c.Methods = fitting(c)
		r := do(t, valid(t, c), experiment.Options{})
		check(t, r, true)
		for i, runs := range r.Runs {
			for m, run := range runs {
				if run.MSE[6] != run.MSE[0] {
					t.Errorf("seed %d, %s: the belief moved", i, c.Methods[m])
				}
			}
		}
	}
}

// FuzzReadTask: no file makes it panic, and what it accepts can be run.
func FuzzReadTask(f *testing.F) {
	b := must.Get(os.ReadFile("../../../docs/tasks/delivery.json"))(f)
	f.Add(b)
	f.Add([]byte(small))
	f.Add([]byte(strings.Replace(small, `"queries"`, `"prior": {"covariance": [[2, 1], [1, 2]]}, "true_weights": [1e9, -1e9], "queries"`, 1)))
	f.Add([]byte(strings.Replace(small, `{"rate": "a"}`, `{"weights": {"a": 1e9, "b": -1e-9}}`, 1)))
	f.Add([]byte(strings.Replace(small, `"queries"`, `"answers": {"noise_std": 1e-9, "beta": 1e9}, "prior": {"variance": 1e-9}, "queries"`, 1)))
	f.Add([]byte(`{"features": ["x"], "items": [{"id": "a", "features": [0]}], "policies": [], "queries": [{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		task, err := experiment.ReadTask(strings.NewReader(string(b)))
		if err != nil {
			if idrl.KindOf(err) != idrl.Invalid {
				t.Fatalf("kind %v of error %v", idrl.KindOf(err), err)
			}
			return
		}
		e, err := experiment.Config{Task: task, Seeds: 1, Answers: 2, Methods: []string{"idrl", "lvar", "igr", "uniform"}}.Validate()
		if err != nil {
			t.Fatal(err)
		}
		r, err := experiment.Do(t.Context(), e, experiment.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(t, r, false)
	})
}
