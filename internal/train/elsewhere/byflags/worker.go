package byflags

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/base/command"
	"tiebreak/internal/train/elsewhere"
)

// A Worker is a worker on another machine, by its flags.
type Worker struct {
	Carriers
	name  string
	slots int
	idle  time.Duration
	alive string
	files string
}

// Declare declares the flags.
func (w *Worker) Declare(fs *flag.FlagSet) {
	w.Carriers.Declare(fs)
	fs.StringVar(&w.name, "name", os.Getenv("TIEBREAK_WORKER"), "`name` of the worker, for people, of letters, digits, - and _; default: that of a file of\ncredentials NAME.nkey, which it must have, else made of the machine's name. Several may have one name")
	fs.IntVar(&w.slots, "slots", 0, "`jobs` at a time; 0: as many as there are processors")
	fs.DurationVar(&w.idle, "idle", 0, "`time` without a job after which the worker ends, such as 10m; 0: never")
	fs.StringVar(&w.alive, "alive", "", "`file` that is written every few seconds while the worker lives, for probes")
	fs.StringVar(&w.files, "files", "", "`folder` where recordings are kept that jobs read; default: one of the user's cache")
}

// Run offers this machine to servers until ctx is done, or there was no job for the time of --idle. has are the needs of jobs that
// it meets, and line is the command line of a process that does jobs and finds its files in a folder.
func (w *Worker) Run(ctx context.Context, out io.Writer, has []string, line func(files string) []string, log *slog.Logger) error {
	if w.NATS != "" && w.Folder != "" {
		return fmt.Errorf("%w: give --nats or --folder, not both", command.ErrUsage)
	}
	offer, err := w.offer(has)
	if err != nil {
		return err
	}
	if w.files == "" {
		if w.files, err = cacheFolder(offer.Worker); err != nil {
			return err
		}
	}
	openers, err := w.Openers(offer.Worker, log)
	if err != nil {
		return err
	}
	c := elsewhere.AgentConfig{
		Offer: offer, Slots: cmp.Or(w.slots, runtime.NumCPU()), Command: line, Env: Pipes,
		Files: w.files, Idle: w.idle, Alive: w.alive, Log: log,
	}
	if err := c.Check(); err != nil {
		return fmt.Errorf("%w: %w", command.ErrUsage, err)
	}
	fmt.Fprintf(out, "Worker %s (%s) offers itself for %d jobs at a time, by %s. Press Ctrl-C to stop: jobs under way go on elsewhere.\n",
		offer.Worker, offer.Version, c.Slots, w.by())
	say := func(err error) { log.Warn("no server can be reached; it will be tried again", "why", err) }
	return Keep(ctx, openers[0], say, func(ctx context.Context, by elsewhere.Carrier) error {
		of := c
		of.Carrier = by
		a, err := elsewhere.NewAgent(of)
		if err != nil {
			return err
		}
		return a.Run(ctx)
	})
}

// offer returns the offer of this machine.
func (w *Worker) offer(has []string) (elsewhere.Offer, error) {
	version, err := Version()
	if err != nil {
		return elsewhere.Offer{}, fmt.Errorf("find out the version of this program: %w", err)
	}
	host, _ := os.Hostname() // a machine without a name is shown without one
	host = strings.ToValidUTF8(host[:min(len(host), 200)], "")
	return elsewhere.Offer{
		Worker: cmp.Or(w.name, nameOfKey(w.Credentials), nameOf(host)), Host: host, Version: version, Has: has,
		Memory: elsewhere.Memory(), Cores: runtime.NumCPU(),
	}, nil
}

// Pipes are the variables of the environment of processes that do jobs by pipes: without those that name a carrier.
var Pipes = []string{"TIEBREAK_NATS=", "TIEBREAK_CREDENTIALS=", "TIEBREAK_FOLDER="}

// nameOfKey is the name that a file of credentials has by 'tiebreak worker-key'; empty for another file, and for none.
func nameOfKey(file string) string {
	name, ok := strings.CutSuffix(filepath.Base(file), ".nkey")
	if !ok || !elsewhere.Valid(name) {
		return ""
	}
	return name
}

// nameOf is the name of a worker that was given none: that of the machine, and of the process.
func nameOf(host string) string {
	name := strings.Map(func(r rune) rune {
		if elsewhere.Valid(string(r)) {
			return r
		}
		return '-'
	}, cmp.Or(host, "worker"))
	return name[:min(len(name), 40)] + "-" + strconv.Itoa(os.Getpid())
}

// cacheFolder returns the folder for files of a worker of a name.
func cacheFolder(worker string) (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "tiebreak", worker)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for recordings (--files names another): %w", err)
	}
	return dir, nil
}

// by says what carries jobs, without the passwords that an address may have.
func (w *Worker) by() string {
	if w.NATS != "" {
		return "NATS"
	}
	return "the folder " + w.Folder
}
