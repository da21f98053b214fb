package main

import (
	_ "embed"
	"fmt"

	"tiebreak/envs/mujoco"
	shared "tiebreak/internal/base/command"
	"tiebreak/store"
)

// licences lists the modules that the program is built with, and their licences; 'task licences' writes it.
//
//go:embed licences.txt
var licences string

func versionCommand() command {
	const about = "Prints the versions of this program, of Go, of the system, of MuJoCo (and where it was found), and of\n" +
		"SQLite, and the format of the database that this program writes. Include them when you report a fault.\n" +
		"'tiebreak --version' does the same. The program looks for MuJoCo in the file or folder that MUJOCO_PATH names;\n" +
		"if that is not set, among the system's libraries and in the Python package mujoco (pip install mujoco)."
	return shared.Version("tiebreak", about, licences, func() [][2]string {
		return [][2]string{
			{"MuJoCo", mujoco.Found()},
			{"SQLite", store.SQLiteVersion()},
			{"Database", fmt.Sprintf("format %d", store.Format())},
		}
	})
}

// thisProgram is the name and version of this program, as files that it writes state them.
func thisProgram() string { return "tiebreak " + shared.BuildVersion() }
