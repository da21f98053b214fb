package command

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version returns the command that prints the versions of a program, of Go, of the system, and of
// parts, by their names; or the licences of the modules that the program is built with.
func Version(program, about, licences string, parts func() [][2]string) Command {
	type flags struct{ licences bool }
	return With(Command{
		Name: "version", Summary: "print the versions of this program and of what it is built with", Usage: "[--licences]",
		About: about + "\nWith --licences it lists the libraries that the program is built with, and prints their licences.", Example: program + " version",
	}, func(f *flags, fs *flag.FlagSet) {
		fs.BoolVar(&f.licences, "licences", false, "print the libraries that the program is built with, and their licences")
	}, func(_ context.Context, io IO, f *flags) error {
		if f.licences {
			_, err := fmt.Fprint(io.Out, licences)
			return err
		}
		lines := [][2]string{{program, BuildVersion()}, {"Go", runtime.Version()}, {"Platform", runtime.GOOS + "/" + runtime.GOARCH}}
		for _, line := range append(lines, parts()...) {
			fmt.Fprintf(io.Out, "%-*s %s\n", max(len("Platform"), len(program)), line[0], line[1])
		}
		return nil
	})
}

// BuildVersion returns the version of the module, and the commit that it was
// built from where Go knows it: "v0.1.0", "(devel) 1a2b3c4d5e6f, changed since".
func BuildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			text += " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			text += ", changed since"
		}
	}
	return text
}
