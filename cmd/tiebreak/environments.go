package main

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"tiebreak/envs"
	"tiebreak/internal/data/recordings"
)

// own has the places of a user's own environments.
type own struct {
	models  string // folder of MuJoCo models
	outside string // description of an outside environment, or a folder of them
	past    string // folder of rollouts that were imported
	network bool   // programs of outside environments may use the network
}

// at returns o with the imported rollouts of a data folder, also those imported later.
func (o own) at(data string) own {
	if o.past == "" && data != "" {
		o.past = filepath.Join(data, recordings.FolderName)
	}
	return o
}

// ownFlags declares the flags for a user's environments.
func ownFlags(fs *flag.FlagSet, o *own) {
	fs.StringVar(&o.models, "models", os.Getenv("TIEBREAK_MODELS"), "`folder` with MuJoCo models of your own (see docs/models)")
	fs.StringVar(&o.outside, "outside", os.Getenv("TIEBREAK_OUTSIDE"), "`file` that describes an environment run by another program, or a folder of such files (see docs/outside.md)")
	fs.BoolVar(&o.network, "outside-network", os.Getenv("TIEBREAK_OUTSIDE_NETWORK") == "true", "let programs of --outside use the network, which they could also send data to; on Linux they have none otherwise")
}

// A catalogue is the available environments, including a user's own. Imported rollouts are added
// and removed while it is used.
type catalogue struct {
	fixed envs.List
	past  *envs.Rollouts
}

// openCatalogue returns the catalogue with a user's environments.
func openCatalogue(o own) (*catalogue, error) {
	custom, err := envs.LoadCustomModels(o.models)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	outside, err := envs.LoadOutside(o.outside, self, o.network)
	if err != nil {
		return nil, err
	}
	return &catalogue{fixed: slices.Concat(envs.Catalogue(), custom, outside), past: envs.NewRollouts(o.past)}, nil
}

// now returns the environments that are available now. If the folder of rollouts cannot be read it
// returns an error with all other environments.
func (c *catalogue) now() (envs.List, error) {
	past, err := c.past.List()
	return slices.Concat(c.fixed, past), err
}

// logged returns the result of now, and logs its errors.
func (c *catalogue) logged(log *slog.Logger) func() envs.List {
	return func() envs.List {
		list, err := c.now()
		if err != nil {
			log.Error("environments of rollouts are left out", "err", err)
		}
		return list
	}
}

// environments returns the present catalogue with a user's environments.
func environments(o own) (envs.List, error) {
	c, err := openCatalogue(o)
	if err != nil {
		return nil, err
	}
	return c.now()
}

// warnUncaged says what programs of environments can do as walls around them are missing.
func warnUncaged(io stdio, list envs.List) {
	for _, e := range list {
		if e.Uncaged != "" {
			fmt.Fprintf(io.Err, "Warning: environment %q: %s See docs/outside.md.\n", e.ID, e.Uncaged)
		}
	}
}

// workerCommandLine returns the command line of a worker with a user's environments;
// nil, for this program's own, if there are none.
func workerCommandLine(o own) ([]string, error) {
	if o == (own{}) {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	line := []string{self, "worker"}
	for _, f := range []struct{ flag, path string }{{"--models", o.models}, {"--outside", o.outside}, {"--rollouts", o.past}} {
		if f.path == "" {
			continue
		}
		path, err := filepath.Abs(f.path)
		if err != nil {
			return nil, err
		}
		line = append(line, f.flag, path)
	}
	if o.network {
		line = append(line, "--outside-network")
	}
	return line, nil
}
