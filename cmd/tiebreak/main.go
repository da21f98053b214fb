package main

import (
	"context"
	"os"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/data/outside"
)

// Commands are those of package command.
type (
	command      = shared.Command
	stdio        = shared.IO
	progressLine = shared.ProgressLine
)

// errUsage marks an error in the command line.
var errUsage = shared.ErrUsage

func commands() []command {
	return []command{
		demoCommand(), serveCommand(), sessionCommand(), arenaCommand(), simulateCommand(), loadtestCommand(),
		userCommand(), tokenCommand(), workersCommand(), inviteCommand(), annotatorCommand(), exportCommand(), importCommand(), clipsCommand(), questionsCommand(), qualityCommand(), reportCommand(), backupCommand(), restoreCommand(), recoverCommand(), doctorCommand(), checkCommand(), auditCommand(), configCommand(), versionCommand(), workerCommand(), workerKeyCommand(),
	}
}

// product returns the program.
func product() shared.Program {
	const lab = "tiebreak-lab: go run tiebreak/cmd/tiebreak-lab"
	return shared.Program{
		Name:     "tiebreak",
		About:    "Tiebreak asks people which behaviour they prefer and learns the reward behind their answers\nwith as few questions as possible.",
		Start:    "tiebreak demo",
		Commands: commands(),
		Moved:    map[string]string{"bench": lab, "gaits": lab, "library": lab},
	}
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == outside.LaunchCommand {
		os.Exit(outside.Launch(os.Args[2:]))
	}
	if len(os.Args) == 2 && os.Args[1] == importJobCommand {
		os.Exit(serveImport(os.Stdin, os.Stdout))
	}
	product().Main()
}

// run executes the command line and returns the exit status.
func run(ctx context.Context, io stdio, args []string) int { return product().Run(ctx, io, args) }
