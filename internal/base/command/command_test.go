package command_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"tiebreak/internal/base/command"
)

type numbers struct{ n int }

func (f *numbers) declare(fs *flag.FlagSet) { fs.IntVar(&f.n, "n", 0, "a `number`") }

// sample returns a program with a command for each end that a command can have. listed counts how often
// the list of one is made.
func sample(listed *int) command.Program {
	ends := func(name string, err error) command.Command {
		return command.Command{Name: name, Summary: "ends so", About: "Ends with " + name + ".", Example: "sample " + name, Run: func(context.Context, command.IO, []string) error { return err }}
	}
	waits := func(ctx context.Context, _ command.IO, _ []string) error {
		<-ctx.Done()
		return ctx.Err()
	}
	flags := command.With(command.Command{
		Name: "flags", Summary: "has flags", Usage: "[flags]", About: "Has flags.", Example: "sample flags --n 1", Hidden: true,
		Lists: func() string { *listed++; return "What there is." },
	}, (*numbers).declare, func(_ context.Context, io command.IO, f *numbers) error {
		_, err := fmt.Fprintln(io.Out, f.n)
		return err
	})
	return command.Program{
		Name: "sample", About: "A sample.", Start: "sample done",
		Commands: []command.Command{
			ends("done", nil), ends("broken", errors.New("it broke")), flags,
			{Name: "waits", Run: waits},
			{Name: "serves", Run: waits, Endless: true},
			{Name: "both", About: "Two.", Subs: []command.Command{ends("both one", nil), ends("both two", errors.New("it broke"))}},
			command.Version("sample", "Says versions.", "the licences\n", func() [][2]string { return [][2]string{{"Part", "1.2"}} }),
		},
		Moved: map[string]string{"gone": "other: go run other"},
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args     string
		status   int
		out, err string // parts of what is written; nothing else is written if empty
	}{
		{"", 0, "Usage: sample COMMAND [flags]", ""},
		{"--help", 0, "  done       ends so\n", ""},
		{"done", 0, "", ""},
		{"help done", 0, "Usage: sample done", ""},
		{"broken", 1, "", "sample broken: it broke\n"},
		{"flags --n 3", 0, "3\n", ""},
		{"flags -h", 0, "What there is.\n\nFlags:\n  -n number", ""},
		{"flags --n 3 -h", 0, "Example:\n  sample flags --n 1\n", ""},
		{"flags --m", 2, "", "sample flags: flag provided but not defined: -m\nRun 'sample flags --help'"},
		{"flags 3", 2, "", `unexpected argument "3"`},
		{"both", 0, "  both one           ends so\n", ""},
		{"both one", 0, "", ""},
		{"both two", 1, "", "sample both two: it broke\n"},
		{"both three", 2, "", `sample both: unknown command "three"`},
		{"nothing", 2, "", `sample: unknown command "nothing"`},
		{"gone far", 2, "", "sample: \"gone\" is now a command of other: go run other gone …\n"},
		{"help gone", 2, "", `"gone" is now a command of other`},
		{"version", 0, "Part     1.2\n", ""},
		{"--version", 0, "Part     1.2\n", ""},
		{"version --licences", 0, "the licences\n", ""},
	} {
		var out, err bytes.Buffer
		status := sample(new(int)).Run(t.Context(), command.IO{In: strings.NewReader(""), Out: &out, Err: &err}, strings.Fields(test.args))
		if status != test.status || !strings.Contains(out.String(), test.out) || !strings.Contains(err.String(), test.err) || (test.out == "") != (out.Len() == 0) || (test.err == "") != (err.Len() == 0) {
			t.Errorf("sample %s: status %d, want %d; it wrote\n%s\nand of errors\n%s", test.args, status, test.status, &out, &err)
		}
	}
}

// Lists that take time are made for the help of their command alone; hidden commands are not listed.
func TestListsAreMadeWhenShown(t *testing.T) {
	t.Parallel()
	listed := 0
	for _, test := range []struct {
		args string
		want int
	}{{"--help", 0}, {"done", 0}, {"flags", 0}, {"flags --help", 1}} {
		var out bytes.Buffer
		sample(&listed).Run(t.Context(), command.IO{Out: &out, Err: &out}, strings.Fields(test.args))
		if listed != test.want {
			t.Errorf("after %q the list was made %d times, want %d", test.args, listed, test.want)
		}
		if test.args == "--help" && strings.Contains(out.String(), "has flags") {
			t.Errorf("a hidden command is listed:\n%s", &out)
		}
	}
}

// A command that is stopped before it is done has the status of shells; one that runs until it is stopped has done its work.
func TestStopped(t *testing.T) {
	t.Parallel()
	for signal, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		ctx, stop := context.WithCancelCause(t.Context())
		stop(command.Stop{Signal: signal})
		for name, want := range map[string]int{"waits": want, "serves": 0, "broken": want, "done": 0} {
			if got := sample(new(int)).Run(ctx, command.IO{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, []string{name}); got != want {
				t.Errorf("%s after %v: exit status %d, want %d", name, signal, got, want)
			}
		}
	}
}
