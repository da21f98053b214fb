package main

import (
	"context"
	_ "embed"
	"runtime"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/command"
)

// licences lists the modules that the program is built with, and their licences; 'task licences' writes it.
//
//go:embed licences.txt
var licences string

// lab returns the program.
func lab() command.Program {
	return command.Program{
		Name:     "tiebreak-lab",
		About:    "Research on the method of Tiebreak: experiments with simulated annotators, and the libraries and gaits of the program.",
		Start:    "tiebreak-lab bench chain",
		Commands: []command.Command{benchCommand(), libraryCommand(), gaitsCommand(), versionCommand(), workerCommand()},
	}
}

func main() { lab().Main() }

// run executes the command line and returns the exit status.
func run(ctx context.Context, io command.IO, args []string) int { return lab().Run(ctx, io, args) }

func versionCommand() command.Command {
	return command.Version("tiebreak-lab", "Prints the version of this program, of Go, of the system, and of MuJoCo and where it was found.", licences, func() [][2]string {
		return [][2]string{{"MuJoCo", mujoco.Found()}}
	})
}

// roomForC gives the runtime places for more goroutines than there are cores. If none is free, the
// runtime takes the place of a call into C that lasts longer than 20 µs, as steps of MuJoCo do, and
// returns it late: with two busy workers on two cores and other programs, this halved the number of
// steps a second.
func roomForC() { runtime.GOMAXPROCS(2 * runtime.NumCPU()) }
