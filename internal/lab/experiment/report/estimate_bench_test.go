//go:build unix

package report_test

import (
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/experiment"
	"tiebreak/internal/lab/experiment/report"
)

// BenchmarkFirstEstimate makes runs of experiments as tiebreak-lab bench does and reports the
// first estimate of the time left over the true time, by what factor the worst estimate was
// wrong of those made until half of that time was over (2: half or twice), and which share of
// the whole time was over at the first. Its clock is the time of the processor, so that other
// programs do not count.
//
//	GOMAXPROCS=1 go test ./internal/lab/experiment/report -run '^$' -bench FirstEstimate -benchtime 1x
func BenchmarkFirstEstimate(b *testing.B) {
	one := func(figure, queries, mode string, answers int) []experiment.Config {
		return []experiment.Config{{Figure: figure, Queries: queries, Mode: mode, Answers: answers}}
	}
	all := func(mode string, answers int) (out []experiment.Config) {
		for _, f := range experiment.Figures() {
			if f.Long || f.Extra {
				continue
			}
			for _, q := range f.Queries {
				out = append(out, experiment.Config{Figure: f.Name, Queries: q, Mode: mode, Answers: answers})
			}
		}
		return out
	}
	for name, configs := range map[string][]experiment.Config{
		"suite":                experiment.Suite(),
		"all, paper":           all(experiment.Paper, 15),
		"all":                  all(experiment.Corrected, 20),
		"chain":                one("chain", experiment.States, experiment.Corrected, 0),
		"gridworld comparison": one("gridworld", experiment.Comparisons, experiment.Corrected, 40),
		"garnet":               one("garnet", experiment.Comparisons, experiment.Corrected, 0),
		"driver":               one("driver", experiment.Comparisons, experiment.Corrected, 30),
	} {
		b.Run(name, func(b *testing.B) {
			var es []experiment.Experiment
			for _, c := range configs {
				if c.Seeds, c.FirstSeed = 4, 401; name == "suite" {
					c.Seeds, c.Answers = 2, 30
				}
				e := must.Get(c.Validate())(b)
				es = append(es, e)
			}
			for b.Loop() {
				estimates(b, es)
			}
		})
	}
}

// worked returns how long this process has used processors, as a time.
func worked() time.Time {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // there is no such error
	}
	return time.Unix(0, u.Utime.Nano()+u.Stime.Nano())
}

// estimates makes the runs of es and reports how wrong the estimates were.
func estimates(b *testing.B, es []experiment.Experiment) {
	tracker := report.NewTracker(report.FolderStore(b.TempDir(), nil), es, worked)
	type estimate struct {
		at   time.Time
		left time.Duration
	}
	var made []estimate
	cache := b.TempDir()
	begin := worked()
	for _, e := range append(tracker.Firsts(es, 1), es...) {
		must.Get(experiment.Do(b.Context(), e, experiment.Options{Workers: 1, Store: tracker, Cache: cache, Progress: func(int, int, string) {
			if p := tracker.Progress(); p.Left > 0 {
				made = append(made, estimate{worked(), p.Left})
			}
		}}))(b)
	}
	end := worked()
	left := end.Sub(made[0].at)
	worst := 0.0
	for _, x := range made {
		if truly := end.Sub(x.at); truly > left/2 {
			f := float64(x.left) / float64(truly)
			worst = max(worst, f, 1/f)
		}
	}
	b.ReportMetric(float64(made[0].left)/float64(left), "first/true")
	b.ReportMetric(worst, "worst-factor")
	b.ReportMetric(float64(made[0].at.Sub(begin))/float64(end.Sub(begin)), "over-at-first")
	b.ReportMetric(left.Seconds(), "s-left")
}
