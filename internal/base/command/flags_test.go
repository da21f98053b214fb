package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/command"
)

type walk struct {
	animal, place string
	fast          bool
}

func (f *walk) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.place, "place", "", "where")
	fs.BoolVar(&f.fast, "fast", false, "at a run")
}

func (f *walk) Words(args []string) ([]string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return nil, fmt.Errorf("%w: name an animal", command.ErrUsage)
	}
	f.animal = args[0]
	return args[1:], nil
}

func TestArgumentsWithoutFlags(t *testing.T) {
	t.Parallel()
	c := command.With(command.Command{Name: "walk", Unflagged: "place"}, (*walk).declare, func(_ context.Context, io command.IO, f *walk) error {
		_, err := fmt.Fprint(io.Out, *f)
		return err
	})
	for _, test := range []struct{ args, out, err string }{
		{"dog", "{dog  false}", ""},
		{"dog park", "{dog park false}", ""},
		{"dog park --fast", "{dog park true}", ""},
		{"dog --fast park", "{dog park true}", ""},
		{"dog --fast=false park --fast", "{dog park true}", ""},
		{"dog --place park", "{dog park false}", ""},
		{"", "", "name an animal"},
		{"--fast", "", "name an animal"},
		{"dog park --place wood", "", "--place is given twice: park and wood"},
		{"dog --place wood park", "", "--place is given twice: park and wood"},
		{"dog park wood", "", `unexpected argument "wood"`},
		{"dog park --slow", "", "flag provided but not defined: -slow"},
	} {
		var out bytes.Buffer
		err := c.Run(t.Context(), command.IO{Out: &out}, strings.Fields(test.args))
		if out.String() != test.out || (test.err == "") != (err == nil) || err != nil && (!errors.Is(err, command.ErrUsage) || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("walk %s: %q, error %v; want %q, error %q", test.args, &out, err, test.out, test.err)
		}
	}
	if err := c.Run(t.Context(), command.IO{}, []string{"dog", "--help"}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("walk dog --help: error %v, want a request for help", err)
	}
}

// Commands that share an F need not declare the flag whose value may stand alone.
func TestUnflaggedOfAnotherCommand(t *testing.T) {
	t.Parallel()
	declare := func(f *walk, fs *flag.FlagSet) { fs.BoolVar(&f.fast, "fast", false, "at a run") }
	c := command.With(command.Command{Name: "walk", Unflagged: "place"}, declare, func(context.Context, command.IO, *walk) error { return nil })
	if err := c.Run(t.Context(), command.IO{}, []string{"dog", "park"}); err == nil || !strings.Contains(err.Error(), `unexpected argument "park"`) {
		t.Errorf("walk dog park: error %v", err)
	}
}

func TestGiven(t *testing.T) {
	t.Parallel()
	type set struct {
		number int
		flags  *flag.FlagSet
	}
	c := command.With(command.Command{}, func(f *set, fs *flag.FlagSet) {
		f.flags = fs
		fs.IntVar(&f.number, "number", 3, "")
		fs.Int("other", 3, "")
	}, func(_ context.Context, _ command.IO, f *set) error {
		if !command.Given(f.flags, "number") || command.Given(f.flags, "other") || f.number != 3 {
			t.Errorf("number given %t, other given %t, number %d", command.Given(f.flags, "number"), command.Given(f.flags, "other"), f.number)
		}
		return nil
	})
	must.Do(t, c.Run(t.Context(), command.IO{}, []string{"--number", "3"}))
}
