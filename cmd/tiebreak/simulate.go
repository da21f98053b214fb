package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/sim"
	"tiebreak/web/client"
)

// simulateFlags are the flags of simulate.
type simulateFlags struct {
	url, expert, models, data   string
	answers, every              int
	seed                        uint64
	temperature, noise, tieBand float64
	mistake, skipBelow          float64
	pause, patience             time.Duration
}

func (f *simulateFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.url, "url", "", "annotator `link` of the session (required)")
	modelsFlag(fs, &f.models)
	fs.IntVar(&f.answers, "answers", 30, "`number` of answers to give")
	fs.StringVar(&f.expert, "expert", sim.Experts()[0], "kind of expert: "+strings.Join(sim.Experts(), ", "))
	fs.Uint64Var(&f.seed, "seed", 1, "of the expert's true reward and of its answers")
	fs.Float64Var(&f.temperature, "temperature", 0.1, "noise of a bradley-terry, tie-band or b-pref expert, relative to the range of rewards")
	fs.Float64Var(&f.noise, "noise", 0.1, "standard deviation of the noise of ratings, and of a numeric expert's comparisons, on a scale from -1 to 1")
	fs.Float64Var(&f.tieBand, "tie-band", 0, "largest difference that a perfect, tie-band or b-pref expert calls equal, relative to the range of rewards")
	fs.Float64Var(&f.mistake, "mistake", 0, "`probability` that a b-pref expert gives the opposite answer")
	fs.Float64Var(&f.skipBelow, "skip-below", 0, "a b-pref expert skips the question if both clips have less than this true `return`")
	fs.DurationVar(&f.patience, "patience", 5*time.Minute, "how long to keep trying while the server is away or cannot store answers")
	fs.StringVar(&f.data, "data", "", "data `folder` of the server, on this machine, to compare the recommended policy with the true reward; it is only read")
	fs.IntVar(&f.every, "every", 0, "with --data, also compare every N `answers`")
	fs.DurationVar(&f.pause, "pause", 0, "time to think before each answer, such as 500ms")
}

// options returns those of the expert. scale is the range of rewards.
func (f *simulateFlags) options(scale float64, steps func(idrl.ClipID) [][]float64) sim.Options {
	return sim.Options{
		Range: scale, Temperature: f.temperature, NoiseStd: f.noise, TieBand: f.tieBand, Steps: steps,
		Teacher: sim.Teacher{
			Beta: 1 / (f.temperature * scale), Mistake: f.mistake,
			SkipBelow: f.skipBelow, EqualWithin: f.tieBand * scale,
		},
	}
}

func simulateCommand() command {
	return command{
		name: "simulate", summary: "let a simulated expert answer a running server", usage: "--url LINK [flags]",
		about: "Joins a session by its annotator link and answers through the same websocket as a browser, by a true\n" +
			"reward drawn from the seed. Use it to rehearse a study. It prints the true reward at the end and, with\n" +
			"--data, the true regret of the recommended policy beside the statement of the session's page. It waits\n" +
			"for a server that restarts; no question is answered twice.",
		example: "tiebreak simulate --url http://127.0.0.1:8080/join/TOKEN --answers 30 --expert bradley-terry --seed 7\n" +
			"  tiebreak simulate --url http://127.0.0.1:8080/join/TOKEN --data tiebreak-data --every 5",
		flags: func(fs *flag.FlagSet) { new(simulateFlags).declare(fs) },
		run:   runSimulate,
	}
}

func runSimulate(ctx context.Context, std stdio, args []string) error {
	var f simulateFlags
	fs := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.declare(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	switch {
	case f.url == "":
		return fmt.Errorf("%w: --url is missing; give the annotator link that the server printed", errUsage)
	case f.answers < 1:
		return fmt.Errorf("%w: --answers must be at least 1; got %d", errUsage, f.answers)
	case !(f.temperature > 0) || math.IsInf(f.temperature, 1):
		return fmt.Errorf("%w: --temperature must be a positive number; got %v; for an expert who never errs say --expert perfect", errUsage, f.temperature)
	case f.patience < 0:
		return fmt.Errorf("%w: --patience must not be negative; got %v", errUsage, f.patience)
	case f.every < 0 || f.every > 0 && f.data == "":
		return fmt.Errorf("%w: --every needs --data and a number of answers; got %d", errUsage, f.every)
	}
	list, err := environments(f.models)
	if err != nil {
		return err
	}
	r := newRehearsal(list, f, std.out)
	if _, err := sim.NewExpert(f.expert, sim.Task{}, f.options(1, r.steps)); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if r.conn, err = client.New(f.url); err != nil {
		return err
	}
	defer r.conn.Close()
	return r.run(ctx)
}
