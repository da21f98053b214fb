package main

import (
	"context"
	"flag"

	"tiebreak/internal/base/command"
	"tiebreak/internal/lab/experiment/seeds"
	"tiebreak/internal/train/jobs"
)

// workerFlags are the flags of worker.
type workerFlags struct{ cache string }

func (f *workerFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.cache, "cache", "", "`folder` for tables of policies that take minutes to make, such as the cache of a bench's folder; default: each worker makes them itself")
}

func workerCommand() command.Command {
	return command.With(command.Command{
		Name: "worker", Endless: true, Hidden: true, Summary: "compute the runs of bench (bench starts it itself)", Usage: "[flags]",
		About:   "Reads jobs, each the runs of one seed, from standard input and writes their results to standard\noutput, until its input ends.",
		Example: "tiebreak-lab worker < jobs > results",
	}, (*workerFlags).declare, func(ctx context.Context, io command.IO, f *workerFlags) error {
		return jobs.Serve(ctx, io.In, io.Out, workerHandler(f))
	})
}

// workerHandler returns what does the jobs of this program in a worker.
func workerHandler(f *workerFlags) jobs.Handler {
	return jobs.Kinds{seeds.Kind: &seeds.Handler{Cache: f.cache}}
}
