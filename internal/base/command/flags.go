package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
)

// With returns c with the flags that declare declares on an F, which run gets as the command line
// has them. Arguments without a flag are an error, apart from the value of c.Unflagged and what an
// optional method of *F takes from before the flags:
//
//	Words(args []string) (rest []string, err error)
func With[F any](c Command, declare func(*F, *flag.FlagSet), run func(context.Context, IO, *F) error) Command {
	c.Flags = func(fs *flag.FlagSet) { declare(new(F), fs) }
	c.Run = func(ctx context.Context, io IO, args []string) error {
		f, fs := new(F), flag.NewFlagSet(c.Name, flag.ContinueOnError)
		declare(f, fs)
		if err := read(f, fs, args, c.Unflagged); err != nil {
			return err
		}
		return run(ctx, io, f)
	}
	return c
}

// read reads args into the flags and words of f.
func read(f any, fs *flag.FlagSet, args []string, unflagged string) (err error) {
	if w, ok := f.(interface {
		Words(args []string) (rest []string, err error)
	}); ok {
		if args, err = w.Words(args); err != nil {
			return err
		}
	}
	if fs.Lookup(unflagged) != nil {
		return parseUnflagged(fs, args, unflagged)
	}
	return parse(fs, args)
}

// parse parses args into fs. No arguments may be left over.
func parse(fs *flag.FlagSet, args []string) error {
	if err := parseFlags(fs, args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("%w: unexpected argument %q", ErrUsage, fs.Arg(0))
	}
	return nil
}

// parseUnflagged is parse, but takes one argument as the value of the flag of that name.
func parseUnflagged(fs *flag.FlagSet, args []string, name string) error {
	if err := parseFlags(fs, args); err != nil || fs.NArg() == 0 {
		return err
	}
	value := fs.Arg(0)
	if err := parse(fs, fs.Args()[1:]); err != nil {
		return err
	}
	if already := fs.Lookup(name).Value.String(); already != "" {
		return fmt.Errorf("%w: --%s is given twice: %s and %s", ErrUsage, name, value, already)
	}
	if err := fs.Set(name, value); err != nil {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return nil
}

func parseFlags(fs *flag.FlagSet, args []string) error {
	fs.SetOutput(io.Discard)
	err := fs.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUsage, err)
}

// Given reports whether a flag is on the command line.
func Given(fs *flag.FlagSet, name string) (is bool) {
	fs.Visit(func(f *flag.Flag) { is = is || f.Name == name })
	return is
}
