package main

import (
	"context"
	"flag"
	"log/slog"
	"path/filepath"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/train/elsewhere/byflags"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/training"
)

// workerFlags are the flags of worker.
type workerFlags struct {
	own  own
	away byflags.Worker
}

func (f *workerFlags) declare(fs *flag.FlagSet) {
	f.away.Declare(fs)
	ownFlags(fs, &f.own)
	fs.StringVar(&f.own.past, "rollouts", "", "`folder` of rollouts that were imported; the server sets it for workers that it starts itself")
}

func workerCommand() command {
	return shared.With(command{
		Name: "worker", Endless: true, Summary: "train policies for a server on another machine", Usage: "--nats ADDRESS --credentials FILE | --folder DIR [flags]",
		About: "Offers this machine to a server that runs with the same --nats, --nats-listen or --folder, and to the commands\n" +
			"'simulate --runs' and 'simulate --study'. Server and worker must be of the same version. Jobs are trainings, clips and\n" +
			"rehearsals; answers of people never go through a worker. A worker that is stopped, killed or cut off costs time:\n" +
			"its jobs go on elsewhere from their last checkpoint, or on the server's machine. docs/workers.md is a tutorial, and has\n" +
			"examples for Slurm and Kubernetes.\n\n" +
			"Without --nats and --folder it reads jobs from standard input and writes results to standard output: so the server\n" +
			"uses it on its own machine.",
		Example: "tiebreak worker --nats nats://server.example.org:4222 --credentials worker1.key\n" +
			"  tiebreak worker --folder /shared/tiebreak --slots 4 --idle 10m",
	}, (*workerFlags).declare, runWorker)
}

func runWorker(ctx context.Context, io stdio, f *workerFlags) error {
	list, err := openCatalogue(f.own)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(io.Err, nil))
	if f.away.Any() {
		f.warn(io.Err)
		now, err := list.now()
		if err != nil {
			return err
		}
		return f.away.Run(ctx, io.Out, training.Has(now), childLine(f.own), log)
	}
	h, err := handler(list, f.own, log)
	if err != nil {
		return err
	}
	return jobs.Serve(ctx, io.In, io.Out, h)
}

// childLine returns the command line of a process of a worker that finds recordings in a folder.
func childLine(mine own) func(files string) []string {
	return func(files string) []string {
		mine.past = filepath.Join(files, recordings.FolderName)
		line, err := workerCommandLine(mine)
		if err != nil { // the program is gone, and cannot be started
			return []string{"tiebreak", "worker"}
		}
		return line
	}
}

// handler returns what does the jobs of this program in a worker with the environments of list, which
// are those of mine.
func handler(list *catalogue, mine own, log *slog.Logger) (jobs.Handler, error) {
	line, err := workerCommandLine(mine)
	if err != nil {
		return nil, err
	}
	out := jobs.Kinds{runKind: runHandler{envs: list.logged(log), worker: line, log: log}}
	train := &training.Handler{Envs: list.logged(log), Log: log}
	for _, kind := range training.Kinds() {
		out[kind] = train
	}
	return out, nil
}
