package report

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"image/color"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/lab/experiment/deep"

	"gonum.org/v1/plot/vg"
)

// deepEngine is engine for runs of package deep.
const deepEngine = 1

// DeepStore is a deep.Store in a folder, with files like those of a Folder.
type DeepStore struct{ *Folder }

var _ deep.Store = DeepStore{}

// Load implements deep.Store.
func (s DeepStore) Load(c deep.Config) (deep.Run, bool) {
	path := s.file(c.Name(), c.Method, c.Seed)
	r, err := readKept[deep.Run](path, deepHead(c))
	if errors.Is(err, fs.ErrNotExist) {
		return r, false
	}
	if err == nil && len(r.Points) == 0 {
		err = errDamaged
	}
	if err != nil {
		s.tell(c.Name(), path, err)
	}
	return r, err == nil
}

// Save implements deep.Store.
func (s DeepStore) Save(c deep.Config, r deep.Run) error {
	if err := writeKept(s.file(c.Name(), c.Method, c.Seed), deepHead(c), r); err != nil {
		return err
	}
	if err := os.Remove(s.state(c)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop a checkpoint: %w", err)
	}
	return nil
}

// LoadState implements deep.Store. A file of other settings counts as missing.
func (s DeepStore) LoadState(c deep.Config) []byte {
	b, err := os.ReadFile(s.state(c))
	head := []byte(deepHead(c).Fingerprint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || !bytes.HasPrefix(b, head) {
		s.tell(c.Name()+" checkpoint", s.state(c), errForeign)
		return nil
	}
	return b[len(head):]
}

// SaveState implements deep.Store.
func (s DeepStore) SaveState(c deep.Config, b []byte) error {
	return writeWhole(s.state(c), append([]byte(deepHead(c).Fingerprint), b...))
}

func (s DeepStore) state(c deep.Config) string {
	return strings.TrimSuffix(s.file(c.Name(), c.Method, c.Seed), ".json") + ".checkpoint"
}

func deepHead(c deep.Config) keptHead {
	settings := c
	settings.Method, settings.Seed = "", 0
	return keptHead{format, c.Name(), c.Method, c.Seed, fingerprintOf(deepEngine, settings)}
}

// WriteDeep stores r in dir, and replaces the files:
//
//	runs.csv          every measurement of every run
//	summary.csv       scores at the end and over the training, by task and method
//	TASK-comparisons  .svg and .png: score against comparisons; "all" is the mean over tasks
//	TASK-steps        .svg and .png: score against steps
//	report.html       all of it on one page; command is the command line that makes it again
func WriteDeep(dir, command string, r deep.Result) error {
	v := deepView{r}
	page, err := v.page(command)
	if err != nil {
		return err
	}
	out := []output{
		{"runs.csv", v.longForm}, {"summary.csv", v.summaryForm}, {"report.html", func() ([]byte, error) { return page, nil }},
	}
	for t := range v.tasks() {
		for _, x := range axes() {
			for _, format := range []string{"svg", "png"} {
				out = append(out, output{fmt.Sprintf("%s-%s.%s", v.tasks()[t], x.name, format), func() ([]byte, error) {
					c := v.chart(t, x)
					c.title = fmt.Sprintf("%s (%d seeds, mean ± s.e.)", v.tasks()[t], r.Plan.Seeds)
					c.width, c.height, c.background = 18*vg.Centimeter, 11*vg.Centimeter, color.White
					return c.render(format)
				}})
			}
		}
	}
	return writeAll(dir, out)
}

// An axis is what a score is drawn against.
type axis struct {
	name, label string
	of          func(deep.Point) int
}

func axes() []axis {
	return []axis{
		{"comparisons", "Comparisons", func(p deep.Point) int { return p.Labels }},
		{"steps", "Steps of the main policy", func(p deep.Point) int { return p.Steps }},
	}
}

// A deepView turns a result into tables and plots.
type deepView struct{ deep.Result }

const allTasks = "all"

// tasks returns the tasks and, if there are several, their mean.
func (v deepView) tasks() []string {
	if len(v.Plan.Tasks) < 2 {
		return v.Plan.Tasks
	}
	return append(slices.Clone(v.Plan.Tasks), allTasks)
}

// scores returns the scores of a method at point i, by seed; over tasks, the mean of them.
func (v deepView) scores(t, m, i int) []float64 {
	return v.bySeed(t, m, func(r deep.Run) float64 { return r.Points[i].Return })
}

// lastScores returns the scores of a method in the last three measurements, as scores does.
func (v deepView) lastScores(t, m int) []float64 { return v.bySeed(t, m, deep.Run.Final) }

// bySeed returns the scores of what value makes of the runs of a method.
func (v deepView) bySeed(t, m int, value func(deep.Run) float64) []float64 {
	out := make([]float64, v.Plan.Seeds)
	for seed := range out {
		for k := range v.Plan.Tasks {
			switch score := v.Score(k, value(v.Runs[k][m][seed])); t {
			case k:
				out[seed] = score
			case len(v.Plan.Tasks):
				out[seed] += score / float64(len(v.Plan.Tasks))
			}
		}
	}
	return out
}

// points returns those of a run, which are at the same places in all.
func (v deepView) points() []deep.Point { return v.Runs[0][0][0].Points }

// overTraining returns the mean score over the training by seed, without the start.
func (v deepView) overTraining(t, m int) []float64 {
	out, n := make([]float64, v.Plan.Seeds), len(v.points())
	for i := 1; i < n; i++ {
		for seed, s := range v.scores(t, m, i) {
			out[seed] += s / float64(n-1)
		}
	}
	return out
}

func (v deepView) chart(t int, x axis) chart {
	c := chart{label: "Score (0: random, 100: expert)", across: x.label}
	looks := styles(v.Plan.Methods)
	for m, method := range v.Plan.Methods {
		line := curve{label: deepTitle(method), style: looks[m], band: true}
		for i, p := range v.points() {
			if n := len(line.x); n > 0 && line.x[n-1] == x.of(p) {
				line.x, line.mean = line.x[:n-1], line.mean[:n-1] // with the same comparisons the last says most
			}
			line.x, line.mean = append(line.x, x.of(p)), append(line.mean, MeanOf(v.scores(t, m, i)))
		}
		c.answers, c.curves = line.x[len(line.x)-1], append(c.curves, line)
	}
	return c
}

// deepTitle returns how a method is called in text.
func deepTitle(method string) string {
	return strings.Replace(title(method), ", "+deep.Main, ", main policy's rollouts alone", 1)
}

func (v deepView) boot(x []float64) [2]float64 {
	return Bootstrap(x, rng.New(v.Plan.FirstSeed, "bootstrap", uint64(len(x))))
}

// scoreTable compares the methods on a task.
func (v deepView) scoreTable(t int) tableView {
	out := tableView{
		Caption: "Scores", Head: []string{"method", "at the end", "95 % interval", "over the training", "95 % interval", "minus " + deepTitle(v.Plan.Methods[0]), "95 % interval"},
		Note: "At the end: mean of the last three measurements. Over the training: mean of all but the first. The intervals are bootstraps of the mean over seeds; that of the difference, over the training, is paired by seed.",
	}
	first := v.overTraining(t, 0)
	for m, method := range v.Plan.Methods {
		last, all := v.lastScores(t, m), v.overTraining(t, m)
		row := []string{deepTitle(method), plusMinus(MeanOf(last)), between(v.boot(last), short), plusMinus(MeanOf(all)), between(v.boot(all), short), "–", "–"}
		if m > 0 {
			less := make([]float64, len(all))
			for i := range less {
				less[i] = all[i] - first[i]
			}
			row[5], row[6] = plusMinus(MeanOf(less)), between(v.boot(less), signed)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// referenceTable says what scores are between.
func (v deepView) referenceTable() tableView {
	t := tableView{
		Caption: "Returns that are the scores 0 and 100", Head: []string{"task", "random", "expert", "experts, by seed"},
		Note: fmt.Sprintf("Random: uniformly random actions. Expert: soft actor-critic on the true reward, with the settings and the %d steps of the main policy; mean of the last three measurements of %d seeds.", v.Plan.Budget.Steps, deep.ExpertSeeds),
	}
	for k, task := range v.Plan.Tasks {
		var each []string
		for _, r := range v.Experts[k] {
			each = append(each, short(r.Final()))
		}
		t.Rows = append(t.Rows, []string{task, short(v.Random[k]), short(v.Expert[k]), strings.Join(each, ", ")})
	}
	return t
}

// predictionTable says how well answers were predicted, and what runs took.
func (v deepView) predictionTable(t int) tableView {
	out := tableView{
		Caption: "Predictions of the answers, each before it was given, and what a run took",
		Head:    []string{"method", "right", "log loss", "calibration error", "steps of all trainings", "steps of rollouts", "wall time"},
		Note:    "Means over seeds. Log loss in nats; log 2 = 0.693 is that of a coin. The time is of the machine of these runs, several at a time.",
	}
	for m, method := range v.Plan.Methods {
		mean := func(of func(deep.Run) float64) float64 {
			sum := 0.0
			for _, r := range v.Runs[t][m] {
				sum += of(r) / float64(len(v.Runs[t][m]))
			}
			return sum
		}
		out.Rows = append(out.Rows, []string{
			deepTitle(method),
			percent(mean(func(r deep.Run) float64 { return r.Right })),
			short(mean(func(r deep.Run) float64 { return r.LogLoss })),
			short(mean(func(r deep.Run) float64 { return r.ECE })),
			millions(mean(func(r deep.Run) float64 { return float64(r.AllSteps) })),
			millions(mean(func(r deep.Run) float64 { return float64(r.Rolled) })),
			lasting(mean(func(r deep.Run) float64 { return float64(r.WallNS) / 1e9 })),
		})
	}
	return out
}

func (v deepView) page(command string) ([]byte, error) {
	b := v.Plan.Budget
	view := view{Title: "Tiebreak: networks and soft actor-critic", Command: command, Style: template.CSS(pageStyle), Tables: []tableView{v.referenceTable()}}
	for t, task := range v.tasks() {
		s := sectionView{ID: task, Title: task, Tables: []tableView{v.scoreTable(t)}}
		if task == allTasks {
			s.Title = "Mean over tasks"
		} else {
			s.Timing = []tableView{v.predictionTable(t)}
		}
		s.Facts = []fact{
			{"Mode", v.Plan.ModeText()},
			{"Budget", fmt.Sprintf("%s: %d comparisons, %d steps", b.Name, b.Labels, b.Steps)},
			{"Policies", fmt.Sprintf("layers %v, batch %d, %d update(s) every %d step(s)", b.Agent.Hidden, b.Agent.Batch, b.Agent.Updates, b.Agent.Every)},
			{"Candidates", fmt.Sprintf("%d steps at a time", b.CandidateSteps)},
			{"Seeds", fmt.Sprintf("%d, from %d on", v.Plan.Seeds, v.Plan.FirstSeed)},
		}
		for _, x := range axes() {
			c := v.chart(t, x)
			c.title = "Mean score against " + strings.ToLower(x.label[:1]) + x.label[1:]
			f, err := c.view(s.Title)
			if err != nil {
				return nil, err
			}
			s.Figures = append(s.Figures, f)
		}
		view.Sections = append(view.Sections, s)
	}
	return view.render()
}

func (v deepView) longForm() ([]byte, error) {
	rows := [][]string{{"task", "method", "seed", "steps", "comparisons", "return", "score"}}
	for t, task := range v.Plan.Tasks {
		for m, method := range v.Plan.Methods {
			for i, r := range v.Runs[t][m] {
				seed := strconv.FormatUint(v.Plan.FirstSeed+uint64(i), 10)
				for _, p := range r.Points {
					rows = append(rows, []string{task, method, seed, strconv.Itoa(p.Steps), strconv.Itoa(p.Labels), number(p.Return), number(v.Score(t, p.Return))})
				}
			}
		}
	}
	return table(rows)
}

func (v deepView) summaryForm() ([]byte, error) {
	rows := [][]string{{"task", "method", "seeds", "last_mean", "last_se", "last_low95", "last_high95", "training_mean", "training_se", "training_low95", "training_high95"}}
	for t, task := range v.tasks() {
		for m, method := range v.Plan.Methods {
			row := []string{task, method, strconv.Itoa(v.Plan.Seeds)}
			for _, x := range [][]float64{v.lastScores(t, m), v.overTraining(t, m)} {
				mean, boot := MeanOf(x), v.boot(x)
				row = append(row, number(mean.Mean), number(mean.SE), number(boot[0]), number(boot[1]))
			}
			rows = append(rows, row)
		}
	}
	return table(rows)
}
