package byflags

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byfolder"
	"tiebreak/internal/train/elsewhere/bynats"
)

// Carriers name what carries jobs between a server, or a command, and workers on other machines.
type Carriers struct {
	NATS        string // addresses, with commas between them
	Credentials string // file
	Folder      string
	Shared      bool // the group may read and write in Folder
	Replicas    int  // NATS servers that keep each message
}

// Declare declares the flags.
func (c *Carriers) Declare(fs *flag.FlagSet) {
	fs.StringVar(&c.NATS, "nats", os.Getenv("TIEBREAK_NATS"), "`address` of a NATS server with JetStream, such as nats://host:4222, that carries jobs to workers on other\nmachines; several with commas between them (docs/workers.md)")
	fs.StringVar(&c.Credentials, "credentials", os.Getenv("TIEBREAK_CREDENTIALS"), "`file` with the credentials for --nats: what 'tiebreak worker-key' has written, or a .creds file")
	fs.StringVar(&c.Folder, "folder", os.Getenv("TIEBREAK_FOLDER"), "`folder` on a disk that several machines share, that carries jobs where no NATS server may run")
	fs.BoolVar(&c.Shared, "folder-shared", false, "let the group of --folder read and write in it, where servers and workers run under different users")
}

// DeclareReplicas declares the flag of servers, which make the streams of NATS; workers do not have it.
func (c *Carriers) DeclareReplicas(fs *flag.FlagSet) {
	fs.IntVar(&c.Replicas, "nats-replicas", 1, "`number` of NATS servers that keep each message: 3 in a cluster")
}

// Any reports whether something carries jobs.
func (c *Carriers) Any() bool { return c.NATS != "" || c.Folder != "" }

// An Opener opens a carrier.
type Opener func(context.Context) (elsewhere.Carrier, error)

// Openers returns what opens the carriers that the flags name, of a worker of a name; of a server if it is empty.
func (c *Carriers) Openers(worker string, log *slog.Logger) ([]Opener, error) {
	if c.Credentials != "" && c.NATS == "" {
		return nil, fmt.Errorf("%w: --credentials are for --nats, which is missing", command.ErrUsage)
	}
	var out []Opener
	if c.NATS != "" {
		out = append(out, func(ctx context.Context) (elsewhere.Carrier, error) {
			return bynats.Open(ctx, bynats.Config{URLs: c.NATS, Credentials: c.Credentials, Name: worker, Replicas: c.Replicas, Log: log})
		})
	}
	if c.Folder != "" {
		out = append(out, func(context.Context) (elsewhere.Carrier, error) {
			return byfolder.Open(byfolder.Config{Dir: c.Folder, Shared: c.Shared, Log: log})
		})
	}
	return out, nil
}

// againAfter is the time after which a carrier is opened again that could not be, or has ended.
const againAfter = 2 * time.Second

// Keep opens a carrier, uses it, and closes it; again and again while that fails with an error of kind Unavailable, of
// which say hears. It returns nil when ctx is done, else what use has returned, or another error of open.
func Keep(ctx context.Context, open Opener, say func(error), use func(context.Context, elsewhere.Carrier) error) error {
	for {
		by, err := open(ctx)
		if err == nil {
			err = errors.Join(use(ctx, by), by.Close())
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end
		case idrl.KindOf(err) != idrl.Unavailable:
			return err
		}
		say(err)
		select {
		case <-time.After(againAfter):
		case <-ctx.Done():
			return nil
		}
	}
}

// Version identifies the program: jobs are done by workers of the same version only. Where the commit is not known, or files
// were changed since, it has the hash of the program.
func Version() (string, error) {
	text := command.BuildVersion()
	if !strings.Contains(text, "(devel)") && !strings.Contains(text, "changed") && text != "unknown" {
		return text, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	in, err := os.Open(self) //nolint:gosec // this program
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	if err = errors.Join(err, in.Close()); err != nil {
		return "", err
	}
	return text + " " + hex.EncodeToString(sum.Sum(nil)[:6]), nil
}
