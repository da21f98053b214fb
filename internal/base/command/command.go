package command

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
)

// A Command is a subcommand of a program.
type Command struct {
	Name    string        // of a command below another one both words: "user link"
	Summary string        // one line
	Usage   string        // arguments, after the name
	About   string        // what it does, for --help
	Lists   func() string // text after About that takes time to compute; nil if there is none
	Example string        // a complete command line
	Hidden  bool          // not listed
	Endless bool          // runs until it is stopped, so that a signal is not a failure
	Run     func(ctx context.Context, io IO, args []string) error
	Flags   func(fs *flag.FlagSet) // declares the flags again, for --help; nil if there are none

	Unflagged string // of a command that With made: the flag whose value may stand alone, before, between or after the flags, if it has that flag; empty: none

	Subs []Command // Run, if there is one, serves all else
}

// IO is where a command reads and writes.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
}

// A Program is commands under one name.
type Program struct {
	Name     string // its name on the command line
	About    string // what it does, above the list of its commands
	Start    string // the command line to start with
	Commands []Command
	Moved    map[string]string // commands that another program has now, by their names
}

// ErrUsage marks an error in the command line.
var ErrUsage = errors.New("usage")

// A Stop is why the context of a command is done: a signal.
type Stop struct{ os.Signal }

// Error implements error.
func (s Stop) Error() string { return "stopped: " + s.String() }

// Main runs the command that the arguments of the process name, until it is done or a signal stops
// it, and ends the process.
func (p Program) Main() {
	ctx, stop := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go heed(signals, stop, os.Exit) // ends with the program
	os.Exit(p.Run(ctx, IO{os.Stdin, os.Stdout, os.Stderr}, os.Args[1:]))
}

// heed stops a program at the first signal, and ends it at the second, for people who do not want to wait.
func heed(signals <-chan os.Signal, stop context.CancelCauseFunc, exit func(status int)) {
	stop(Stop{<-signals})
	exit(status(<-signals))
}

// status returns the exit status of a program that a signal has ended.
func status(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 128 + int(syscall.SIGINT)
}

// Run executes a command line and returns the exit status: 0 if all went well, 2 if the command
// line is wrong, 130 or 143 if a signal stopped the command before it was done (interrupted), 1 for
// every other failure.
func (p Program) Run(ctx context.Context, io IO, args []string) int {
	if len(args) == 0 || isHelp(args[0]) {
		if len(args) > 1 {
			return p.Run(ctx, io, []string{args[1], "--help"})
		}
		p.printCommands(io.Out)
		return 0
	}
	name := args[0]
	if name == "-version" || name == "--version" {
		name = "version"
	}
	for _, c := range p.Commands {
		if c.Name == name {
			return p.run(ctx, io, c, args[1:])
		}
	}
	if where, ok := p.Moved[name]; ok {
		fmt.Fprintf(io.Err, "%s: %q is now a command of %s %s …\n", p.Name, name, where, name)
		return 2
	}
	fmt.Fprintf(io.Err, "%s: unknown command %q\n\n", p.Name, name)
	p.printCommands(io.Err)
	return 2
}

func (p Program) run(ctx context.Context, io IO, c Command, args []string) int {
	if len(args) > 0 && isHelp(args[0]) {
		p.printHelp(io.Out, c)
		return 0
	}
	for _, sub := range c.Subs {
		if len(args) > 0 && sub.Name == c.Name+" "+args[0] {
			return p.run(ctx, io, sub, args[1:])
		}
	}
	if c.Run == nil {
		return p.lackSub(io, c, args)
	}
	err := c.Run(ctx, io, args)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		p.printHelp(io.Out, c)
		return 0
	case errors.Is(err, context.Canceled) && ctx.Err() != nil && c.Endless:
		return 0
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return interrupted(ctx)
	}
	text := strings.TrimPrefix(err.Error(), ErrUsage.Error()+": ")
	fmt.Fprintf(io.Err, "%s %s: %s\n", p.Name, c.Name, text)
	if errors.Is(err, ErrUsage) {
		fmt.Fprintf(io.Err, "Run '%s %s --help' for the flags and an example.\n", p.Name, c.Name)
		return 2
	}
	if ctx.Err() != nil && !c.Endless {
		return interrupted(ctx) // the error is a consequence of it
	}
	return 1
}

// interrupted returns the exit status of a command that was stopped: as in shells, 128 and the
// number of the signal.
func interrupted(ctx context.Context) int {
	if s := (Stop{}); errors.As(context.Cause(ctx), &s) {
		return status(s.Signal)
	}
	return status(syscall.SIGINT)
}
