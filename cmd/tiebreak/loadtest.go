package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/lab/loadtest"
)

// loadtestFlags are the flags of loadtest.
type loadtestFlags struct {
	load loadtest.Config
	json bool
}

func (f *loadtestFlags) declare(fs *flag.FlagSet) {
	c := &f.load
	fs.StringVar(&c.Link, "url", "", "annotator `link` of a session, with a use for each annotator")
	fs.IntVar(&c.Annotators, "annotators", 16, "`number` of annotators who join and answer at the same time")
	fs.IntVar(&c.Answers, "answers", 0, "`answers` of each annotator; 0: for as long as --for")
	fs.DurationVar(&c.For, "for", c.For, "how long to answer; default 10s")
	fs.DurationVar(&c.Think, "think", 0, "`time` before an answer, on average, such as 4s; 0: answer at once")
	fs.Uint64Var(&c.Seed, "seed", 1, "`seed` of the ids of answers; another one for each test of the same session")
	fs.IntVar(&c.Idle, "idle", 0, "`sockets` to open afterwards, in five steps, that stay silent; up to 15 for each annotator")
	fs.StringVar(&c.Metrics, "metrics", "", "`address` of the server's metrics, to report its memory and processor time")
	fs.StringVar(&c.Dir, "dir", "", "`folder` on the server's disk, if it is this machine's: how many syncs a second the disk itself does")
	fs.BoolVar(&f.json, "json", false, "write JSON")
}

func loadtestCommand() command {
	return shared.With(command{
		Name: "loadtest", Summary: "measure how many answers a server takes", Usage: "LINK [flags]", Unflagged: "url",
		About: "Joins a session by its annotator link as many annotators, who answer by chance through the same websocket as a browser, and\n" +
			"prints the acknowledged answers a second and how long they took. Every acknowledged answer is on the server's disk.\n" +
			"The answers stay in the session: make one for the test, in a data folder of its own. Annotators beyond the uses of the\n" +
			"link cannot join. docs/serving.md says what to expect.",
		Example: "tiebreak loadtest http://127.0.0.1:8080/join/TOKEN --annotators 64 --for 30s --dir study",
	}, (*loadtestFlags).declare, runLoadtest)
}

func runLoadtest(ctx context.Context, std stdio, f *loadtestFlags) error {
	c := f.load
	switch {
	case c.Link == "":
		return fmt.Errorf("%w: the annotator link is missing; 'tiebreak invite new' makes one", errUsage)
	case c.Annotators < 1 || c.Answers < 0 || c.For < 0 || c.Think < 0 || c.Idle < 0:
		return fmt.Errorf("%w: --annotators must be at least 1, and the other numbers not below 0", errUsage)
	}
	c.Say = func(text string) { fmt.Fprintln(std.Err, text) }
	r, err := loadtest.Run(ctx, c)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(std.Out, r)
	}
	printLoad(std.Out, r)
	return nil
}

// printLoad writes a report for people.
func printLoad(out io.Writer, r loadtest.Report) {
	fmt.Fprintf(out, "Annotators:      %d\nAnswers:         %d acknowledged in %.1f s, %.0f a second\nAcknowledgement: %.1f ms in half of the cases, %.1f ms in 99 %%, %.1f ms at most\n",
		r.Annotators, r.Answers, r.Seconds, r.PerSecond, r.P50, r.P99, r.Max)
	if r.Lost > 0 {
		fmt.Fprintf(out, "Lost:            %d annotators; the first: %s\n", r.Lost, r.FirstError)
	}
	if r.SyncsPerSecond > 0 {
		fmt.Fprintf(out, "Disk alone:      %.0f syncs a second\n", r.SyncsPerSecond)
	}
	if r.CPU > 0 {
		fmt.Fprintf(out, "Processor:       %.2f ms an answer\n", r.CPU)
	}
	for _, s := range r.Idle {
		fmt.Fprintf(out, "Idle sockets:    %d", s.Sockets)
		if s.PerSocket != 0 {
			fmt.Fprintf(out, ", %.1f KiB each", s.PerSocket/1024)
		}
		fmt.Fprintln(out)
	}
}
