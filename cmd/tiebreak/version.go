package main

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"tiebreak/envs/mujoco"
	"tiebreak/store"
)

// licences lists the modules that the program is built with, and their licences; 'task licences' writes it.
//
//go:embed licences.txt
var licences string

func versionCommand() command {
	return command{
		name: "version", summary: "print the versions of this program and of what it is built with", usage: "[--licences]",
		about: "Prints the version of this program, of Go, of the system, of MuJoCo and where it was found, and of\n" +
			"SQLite, and the format of the database that this program writes. Name them when you report a fault.\n" +
			"'tiebreak --version' does the same. MuJoCo is looked for in the file or folder that MUJOCO_PATH names;\n" +
			"if that is not set, among the system's libraries and in the Python package mujoco (pip install mujoco).\n" +
			"With --licences it lists the libraries that the program is built with, and prints their licences.",
		example: "tiebreak version",
		run: func(_ context.Context, io stdio, args []string) error {
			flags := flag.NewFlagSet("version", flag.ContinueOnError)
			terms := flags.Bool("licences", false, "print the libraries that the program is built with, and their licences")
			if err := parse(flags, args); err != nil {
				return err
			}
			if *terms {
				_, err := fmt.Fprint(io.out, licences)
				return err
			}
			engine := mujoco.Version() + " (" + mujoco.Origin() + ")"
			if err := mujoco.Unavailable(); err != nil {
				engine = "not available: " + err.Error()
			}
			for _, line := range [][2]string{
				{"tiebreak", buildVersion()},
				{"Go", runtime.Version()},
				{"Platform", runtime.GOOS + "/" + runtime.GOARCH},
				{"MuJoCo", engine},
				{"SQLite", store.SQLiteVersion()},
				{"Database", fmt.Sprintf("format %d", store.Format())},
			} {
				fmt.Fprintf(io.out, "%-9s %s\n", line[0], line[1])
			}
			return nil
		},
	}
}

// buildVersion returns the version of the module, and the commit that it was
// built from where Go knows it: "v0.1.0", "(devel) 1a2b3c4d5e6f, changed since".
func buildVersion() string {
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
