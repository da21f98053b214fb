package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byflags"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/embedded"
	"tiebreak/internal/train/jobs"
)

// workplaceFlags are the flags of a server for workers on other machines.
type workplaceFlags struct {
	carriers  byflags.Carriers
	listen    string // for workers, by a NATS server within this process
	cert, key string
	here      int // long trainings at a time on this machine
}

func (f *workplaceFlags) declare(fs *flag.FlagSet) {
	f.carriers.Declare(fs)
	f.carriers.DeclareReplicas(fs)
	fs.StringVar(&f.listen, "nats-listen", os.Getenv("TIEBREAK_NATS_LISTEN"), "`host:port` at which this program is itself a NATS server for workers with credentials of 'tiebreak worker-key';\nempty: it is none")
	fs.StringVar(&f.cert, "nats-cert", "", "`file` in PEM with the certificate for --nats-listen; without it messages to workers are not encrypted")
	fs.StringVar(&f.key, "nats-key", "", "`file` in PEM with the key of --nats-cert")
	fs.IntVar(&f.here, "trainings-here", 0, "`number` of long trainings at a time on this machine; 0: as many as it has processors, up to 4; -1: none at all, so that\nlabelling waits for workers")
}

// A workplace is where a server's jobs are done on other machines. Its methods may be called with nil, which is none.
type workplace struct {
	data    string
	log     *slog.Logger
	hub     *elsewhere.Hub
	nats    *embedded.Server // within this process; nil if there is none
	keys    []embedded.Worker
	stop    context.CancelFunc
	running sync.WaitGroup
}

// open connects to what the flags name, and has workers join the pool of a server on a data folder. It returns nil if they
// name nothing. barred says which workers are given no jobs.
func (f *workplaceFlags) open(ctx context.Context, data string, pool *jobs.Pool, barred func(string) elsewhere.Bar, log *slog.Logger) (_ *workplace, err error) {
	if !f.carriers.Any() && f.listen == "" {
		return nil, nil
	}
	if len(slices.DeleteFunc([]string{f.carriers.NATS, f.carriers.Folder, f.listen}, func(s string) bool { return s == "" })) > 1 {
		return nil, fmt.Errorf("%w: give one of --nats, --nats-listen and --folder", errUsage)
	}
	version, err := byflags.Version()
	if err != nil {
		return nil, fmt.Errorf("find out the version of this program: %w", err)
	}
	w := &workplace{data: data, log: log}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	openers, err := f.carriers.Openers("", log)
	if err != nil {
		return nil, err
	}
	if f.listen != "" {
		if err := w.listen(ctx, f); err != nil {
			return nil, err
		}
		openers = append(openers, w.inProcess)
	}
	say := func(err error) {
		log.Error("workers on other machines cannot be reached, and jobs are done on this one; it will be tried again", "err", err)
	}
	w.hub = elsewhere.NewHub(elsewhere.HubConfig{Pool: pool, Version: version, Barred: barred, Log: log})
	w.running.Go(func() {
		if err := byflags.Keep(ctx, openers[0], say, w.hub.Run); err != nil {
			log.Error("workers on other machines cannot be reached until the server is started again; jobs are done on this machine", "err", err)
		}
	})
	return w, nil
}

// known returns what knows of the workers; nil if there can be none.
func (w *workplace) known() *elsewhere.Hub {
	if w == nil {
		return nil
	}
	return w.hub
}

// inProcess connects to the NATS server within this process.
func (w *workplace) inProcess(ctx context.Context) (elsewhere.Carrier, error) {
	cfg, err := w.nats.Carrier()
	if err != nil {
		return nil, err
	}
	cfg.Log = w.log
	return bynats.Open(ctx, cfg)
}

// listen starts a NATS server within this process.
func (w *workplace) listen(ctx context.Context, f *workplaceFlags) (err error) {
	if w.keys, err = embedded.LoadWorkers(w.data); err != nil {
		return err
	}
	w.nats, err = embedded.Start(ctx, embedded.Config{
		Listen: f.listen, Dir: filepath.Join(w.data, "nats"), Workers: w.keys, TLSCert: f.cert, TLSKey: f.key, Log: w.log,
	})
	if err != nil {
		return err
	}
	w.running.Go(func() { w.follow(ctx) })
	return nil
}

// followKeysEvery is how often the NATS server within this process looks for credentials that commands made or revoked.
const followKeysEvery = 2 * time.Second

// follow lets workers in whose credentials were made, and disconnects those whose credentials were revoked.
func (w *workplace) follow(ctx context.Context) {
	tick := time.NewTicker(followKeysEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		keys, err := embedded.LoadWorkers(w.data)
		if err == nil && !slices.Equal(keys, w.keys) {
			if err = w.nats.Reload(keys); err == nil {
				w.keys = keys
			}
		}
		if err != nil {
			w.log.Error("the credentials of workers cannot be read again", "err", err)
		}
	}
}

// address returns where workers find the NATS server within this process; empty if there is none.
func (w *workplace) address() string {
	if w == nil || w.nats == nil {
		return ""
	}
	return "nats://" + w.nats.Addr().String()
}

// close has all workers leave.
func (w *workplace) close() error {
	if w == nil {
		return nil
	}
	w.stop()
	w.running.Wait()
	if w.nats != nil {
		w.nats.Close()
	}
	return nil
}
