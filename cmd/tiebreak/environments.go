package main

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"

	"tiebreak/envs"
)

// roomForC gives the runtime places for more goroutines than there are cores.
// Where none is free it takes a place away from a call into C that lasts longer
// than 20 µs, as steps of MuJoCo do, and gives it back late: measured with two
// busy workers on two cores beside other programs, half as many steps a second.
func roomForC() { runtime.GOMAXPROCS(2 * runtime.NumCPU()) }

// modelsFlag declares the flag for the folder of a user's models.
func modelsFlag(fs *flag.FlagSet, dir *string) {
	fs.StringVar(dir, "models", os.Getenv("TIEBREAK_MODELS"), "`folder` with MuJoCo models of your own (see docs/models)")
}

// environments returns the catalogue with the models in dir.
func environments(dir string) (envs.List, error) {
	custom, err := envs.LoadCustomModels(dir)
	return append(envs.Catalogue(), custom...), err
}

// workerCommandLine returns the command line of a worker with the models in dir;
// nil, for this program's own, if there are none.
func workerCommandLine(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	return []string{self, "worker", "--models", dir}, err
}
