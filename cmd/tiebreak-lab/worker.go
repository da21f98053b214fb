package main

import (
	"context"
	"flag"
	"log/slog"
	"os"

	"tiebreak/internal/base/command"
	"tiebreak/internal/lab/experiment/seeds"
	"tiebreak/internal/train/elsewhere/byflags"
	"tiebreak/internal/train/jobs"
)

// workerFlags are the flags of worker.
type workerFlags struct {
	cache string
	away  byflags.Worker
}

func (f *workerFlags) declare(fs *flag.FlagSet) {
	f.away.Declare(fs)
	fs.StringVar(&f.cache, "cache", "", "`folder` for tables of policies that take minutes to make, such as the cache of a bench's folder; default: each worker makes them itself")
}

func workerCommand() command.Command {
	return command.With(command.Command{
		Name: "worker", Endless: true, Summary: "compute runs of bench for another machine", Usage: "--nats ADDRESS --credentials FILE | --folder DIR [flags]",
		About: "Offers this machine to commands 'tiebreak-lab bench' that run with the same --nats or --folder, and are of the same\n" +
			"version. Each job is the runs of one seed. Without --nats and --folder it reads jobs from standard input and writes\n" +
			"results to standard output.",
		Example: "tiebreak-lab worker --folder /shared/tiebreak --slots 4 --idle 10m",
	}, (*workerFlags).declare, runWorker)
}

func runWorker(ctx context.Context, io command.IO, f *workerFlags) error {
	if !f.away.Any() {
		return jobs.Serve(ctx, io.In, io.Out, workerHandler(f))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	line := []string{self, "worker", "--cache", f.cache}
	return f.away.Run(ctx, io.Out, seeds.Has(), func(string) []string { return line }, slog.New(slog.NewTextHandler(io.Err, nil)))
}

// workerHandler returns what does the jobs of this program in a worker.
func workerHandler(f *workerFlags) jobs.Handler {
	return jobs.Kinds{seeds.Kind: &seeds.Handler{Cache: f.cache}}
}
