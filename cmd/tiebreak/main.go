package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"tiebreak/internal/data/outside"
)

// A command is a subcommand of tiebreak.
type command struct {
	name    string
	summary string // one line
	usage   string // arguments, after the name
	about   string // what it does, for --help
	example string // a line that works as it stands
	hidden  bool   // not listed
	endless bool   // runs until it is stopped, which is no failure
	run     func(ctx context.Context, io stdio, args []string) error
	flags   func(fs *flag.FlagSet) // declares the flags again, for --help; nil if there are none
	subs    []command              // each named by both words: "user link"; run, if there is one, serves all else
}

// stdio is where a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

func commands() []command {
	return []command{
		demoCommand(), serveCommand(), sessionCommand(), arenaCommand(), simulateCommand(),
		userCommand(), tokenCommand(), inviteCommand(), annotatorCommand(), exportCommand(), importCommand(), clipsCommand(), questionsCommand(), qualityCommand(), benchCommand(), backupCommand(), doctorCommand(), versionCommand(), gaitsCommand(), libraryCommand(), workerCommand(),
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == outside.LaunchCommand {
		os.Exit(outside.Launch(os.Args[2:]))
	}
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { stop(stopSignal{<-signals}) }() // ends with the program
	os.Exit(run(ctx, stdio{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// A stopSignal is why the context of a command is done.
type stopSignal struct{ os.Signal }

// Error implements error.
func (s stopSignal) Error() string { return "stopped: " + s.String() }

// interrupted returns the exit status of a command that was stopped: as in shells, 128 and the
// number of the signal.
func interrupted(ctx context.Context) int {
	if s := (stopSignal{}); errors.As(context.Cause(ctx), &s) {
		if n, ok := s.Signal.(syscall.Signal); ok {
			return 128 + int(n)
		}
	}
	return 128 + int(syscall.SIGINT)
}

// run executes the command line and returns the exit status: 0 if all went
// well, 2 if the command line is wrong, 130 or 143 if a signal stopped the command
// before it was done (interrupted), 1 for every other failure.
func run(ctx context.Context, io stdio, args []string) int {
	if len(args) == 0 || isHelp(args[0]) {
		if len(args) > 1 {
			return run(ctx, io, []string{args[1], "--help"})
		}
		printCommands(io.out)
		return 0
	}
	if args[0] == "-version" || args[0] == "--version" {
		args[0] = "version"
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return runCommand(ctx, io, c, args[1:])
		}
	}
	fmt.Fprintf(io.err, "tiebreak: unknown command %q\n\n", args[0])
	printCommands(io.err)
	return 2
}

func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}

// errUsage marks an error in the command line.
var errUsage = errors.New("usage")

func runCommand(ctx context.Context, io stdio, c command, args []string) int {
	if len(args) > 0 && isHelp(args[0]) {
		printHelp(io.out, c)
		return 0
	}
	for _, sub := range c.subs {
		if len(args) > 0 && sub.name == c.name+" "+args[0] {
			return runCommand(ctx, io, sub, args[1:])
		}
	}
	if c.run == nil {
		return lackSub(io, c, args)
	}
	err := c.run(ctx, io, args)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		printHelp(io.out, c)
		return 0
	case errors.Is(err, context.Canceled) && ctx.Err() != nil && c.endless:
		return 0
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return interrupted(ctx)
	}
	text := strings.TrimPrefix(err.Error(), errUsage.Error()+": ")
	fmt.Fprintf(io.err, "tiebreak %s: %s\n", c.name, text)
	if errors.Is(err, errUsage) {
		fmt.Fprintf(io.err, "Run 'tiebreak %s --help' for the flags and an example.\n", c.name)
		return 2
	}
	if ctx.Err() != nil && !c.endless {
		return interrupted(ctx) // the error came of it
	}
	return 1
}

// lackSub says which subcommands c has.
func lackSub(io stdio, c command, args []string) int {
	if len(args) == 0 {
		printHelp(io.out, c)
		return 0
	}
	fmt.Fprintf(io.err, "tiebreak %s: unknown command %q\n\n", c.name, args[0])
	printHelp(io.err, c)
	return 2
}

// parse parses args into fs, which must not print. No arguments may be left over.
func parse(fs *flag.FlagSet, args []string) error {
	fs.SetOutput(io.Discard)
	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", errUsage, fs.Arg(0))
	}
	return nil
}

func printCommands(w io.Writer) {
	fmt.Fprint(w, "Tiebreak asks people which behaviour they prefer and learns the reward behind their answers\n"+
		"with as few questions as possible.\n\nUsage: tiebreak COMMAND [flags]\n\nCommands:\n")
	for _, c := range commands() {
		if !c.hidden {
			fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
		}
	}
	fmt.Fprint(w, "\nStart with:\n  tiebreak demo\n\nRun 'tiebreak COMMAND --help' for the flags of a command and an example.\n"+
		"Exit status: 0 done, 1 failure, 2 wrong command line, 130 or 143 stopped by SIGINT (Ctrl-C) or SIGTERM before it was done.\n")
}

func printHelp(w io.Writer, c command) {
	fmt.Fprintf(w, "Usage: tiebreak %s %s\n\n%s\n", c.name, c.usage, c.about)
	if len(c.subs) > 0 {
		fmt.Fprint(w, "\nCommands:\n")
		for _, sub := range c.subs {
			fmt.Fprintf(w, "  %-18s %s\n", sub.name, sub.summary)
		}
	}
	if c.flags != nil {
		fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.flags(fs)
		fmt.Fprint(w, "\nFlags:\n")
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
	fmt.Fprintf(w, "\nExample:\n  %s\n", c.example)
}
