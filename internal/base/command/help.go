package command

import (
	"flag"
	"fmt"
	"io"
)

func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}

// lackSub says which subcommands c has.
func (p Program) lackSub(io IO, c Command, args []string) int {
	if len(args) == 0 {
		p.printHelp(io.Out, c)
		return 0
	}
	fmt.Fprintf(io.Err, "%s %s: unknown command %q\n\n", p.Name, c.Name, args[0])
	p.printHelp(io.Err, c)
	return 2
}

func (p Program) printCommands(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage: %s COMMAND [flags]\n\nCommands:\n", p.About, p.Name)
	for _, c := range p.Commands {
		if !c.Hidden {
			fmt.Fprintf(w, "  %-10s %s\n", c.Name, c.Summary)
		}
	}
	fmt.Fprintf(w, "\nStart with:\n  %s\n\nRun '%s COMMAND --help' for the flags of a command and an example.\n"+
		"Exit status: 0 done, 1 failure, 2 wrong command line, 130 or 143 stopped by SIGINT (Ctrl-C) or SIGTERM before it was done.\n", p.Start, p.Name)
}

func (p Program) printHelp(w io.Writer, c Command) {
	fmt.Fprintf(w, "Usage: %s %s %s\n\n%s\n", p.Name, c.Name, c.Usage, c.About)
	if c.Lists != nil {
		fmt.Fprintf(w, "\n%s\n", c.Lists())
	}
	if len(c.Subs) > 0 {
		fmt.Fprint(w, "\nCommands:\n")
		for _, sub := range c.Subs {
			fmt.Fprintf(w, "  %-18s %s\n", sub.Name, sub.Summary)
		}
	}
	if c.Flags != nil {
		fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		c.Flags(fs)
		fmt.Fprint(w, "\nFlags:\n")
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
	fmt.Fprintf(w, "\nExample:\n  %s\n", c.Example)
}
