package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"tiebreak/internal/base/command"
	"tiebreak/internal/base/gemm"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/byfolder"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/bynats/embedded"
	"tiebreak/internal/train/jobs"
)

// carrierFlags name what carries jobs between a server and workers on other machines.
type carrierFlags struct {
	nats, credentials, folder string
	shared                    bool
}

func (f *carrierFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.nats, "nats", os.Getenv("TIEBREAK_NATS"), "`address` of a NATS server with JetStream, such as nats://host:4222, for jobs on other machines; several with commas between them")
	fs.StringVar(&f.credentials, "credentials", os.Getenv("TIEBREAK_CREDENTIALS"), "`file` with the credentials for --nats: the seed of an nkey, as 'tiebreak worker-key' writes it, or a .creds file")
	fs.StringVar(&f.folder, "folder", os.Getenv("TIEBREAK_FOLDER"), "`folder` on a disk that several machines share, for jobs on other machines, where no NATS server may run")
	fs.BoolVar(&f.shared, "folder-shared", false, "let the group of the --folder read and write in it, where servers and workers run under different users")
}

// any reports whether something carries jobs.
func (f *carrierFlags) any() bool { return f.nats != "" || f.folder != "" }

// open returns the carriers of a worker of a name; of a server if it is empty. The caller must close them.
func (f *carrierFlags) open(ctx context.Context, name string, replicas int, log *slog.Logger) (_ []elsewhere.Carrier, err error) {
	var out []elsewhere.Carrier
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(out))
		}
	}()
	if f.credentials != "" && f.nats == "" {
		return nil, fmt.Errorf("%w: --credentials are for --nats, which is missing", errUsage)
	}
	if f.nats != "" {
		c, err := bynats.Open(ctx, bynats.Config{URLs: f.nats, Credentials: f.credentials, Name: name, Replicas: replicas, Log: log})
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if f.folder != "" {
		c, err := byfolder.Open(byfolder.Config{Dir: f.folder, Shared: f.shared, Log: log})
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

func closeAll(list []elsewhere.Carrier) error {
	var errs []error
	for _, c := range list {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// jobsVersion identifies the program: jobs are done by workers of the same version only. Where the commit is not known, or files
// were changed since, it has the hash of the program.
func jobsVersion() (string, error) {
	text := command.BuildVersion()
	if !strings.Contains(text, "(devel)") && !strings.Contains(text, "changed") && text != "unknown" {
		return text, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	in, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", err
	}
	return text + " " + hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// outside are the flags of a server for workers on other machines.
type outsideFlags struct {
	carrier      carrierFlags
	listen       string // for workers, by a NATS server within this process
	cert, key    string
	replicas     int
	trainingHere int
}

func (f *outsideFlags) declare(fs *flag.FlagSet) {
	f.carrier.declare(fs)
	fs.StringVar(&f.listen, "nats-listen", os.Getenv("TIEBREAK_NATS_LISTEN"), "`host:port` at which this program itself is a NATS server for workers that 'tiebreak worker-key' has made credentials for; empty: it is none")
	fs.StringVar(&f.cert, "nats-cert", "", "`file` in PEM with the certificate for --nats-listen; without it messages to workers are not encrypted")
	fs.StringVar(&f.key, "nats-key", "", "`file` in PEM with the key of --nats-cert")
	fs.IntVar(&f.replicas, "nats-replicas", 1, "`number` of NATS servers that keep each message: 3 in a cluster")
	fs.IntVar(&f.trainingHere, "trainings-here", 0, "long trainings at a time on this `machine`; 0: as many as it has processors, up to 4")
}

// A workplace is where a server's jobs are done on other machines.
type workplace struct {
	hubs     []*elsewhere.Hub
	carriers []elsewhere.Carrier
	nats     *embedded.Server // within this process; nil if there is none
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// open connects to what the flags name, and has workers join the pool. It returns nil if they name nothing. barred says
// which workers are given no jobs; data is the data folder.
func (f *outsideFlags) open(ctx context.Context, data string, pool *jobs.Pool, barred func(string) elsewhere.Bar, log *slog.Logger) (_ *workplace, err error) {
	if !f.carrier.any() && f.listen == "" {
		return nil, nil
	}
	version, err := jobsVersion()
	if err != nil {
		return nil, fmt.Errorf("find out the version of this program: %w", err)
	}
	w := &workplace{}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.carriers, err = f.carrier.open(ctx, "", f.replicas, log); err != nil {
		return nil, err
	}
	if f.listen != "" {
		if err := w.listen(ctx, f, data, log); err != nil {
			return nil, err
		}
	}
	for _, c := range w.carriers {
		hub := elsewhere.NewHub(elsewhere.HubConfig{Carrier: c, Pool: pool, Version: version, Barred: barred, Log: log})
		w.hubs = append(w.hubs, hub)
		w.running.Go(func() {
			if err := hub.Run(ctx); err != nil && ctx.Err() == nil {
				log.Error("jobs are done on this machine only", "err", err)
			}
		})
	}
	return w, nil
}

// listen starts a NATS server within this process.
func (w *workplace) listen(ctx context.Context, f *outsideFlags, data string, log *slog.Logger) error {
	keys, err := embedded.LoadWorkers(data)
	if err != nil {
		return err
	}
	w.nats, err = embedded.Start(ctx, embedded.Config{
		Listen: f.listen, Dir: filepath.Join(data, "nats"), Workers: keys, TLSCert: f.cert, TLSKey: f.key, Log: log,
	})
	if err != nil {
		return err
	}
	cfg, err := w.nats.Carrier()
	if err != nil {
		return err
	}
	cfg.Log = log
	c, err := bynats.Open(ctx, cfg)
	if err != nil {
		return err
	}
	w.carriers = append(w.carriers, c)
	return nil
}

// reload has the NATS server within this process know the workers that there are now.
func (w *workplace) reload(data string) error {
	if w == nil || w.nats == nil {
		return nil
	}
	keys, err := embedded.LoadWorkers(data)
	if err != nil {
		return err
	}
	return w.nats.Reload(keys)
}

// close has all workers leave.
func (w *workplace) close() error {
	if w == nil {
		return nil
	}
	w.stop()
	w.running.Wait()
	err := closeAll(w.carriers)
	if w.nats != nil {
		w.nats.Close()
	}
	return err
}

// workerName is the name of a worker that was given none: that of the machine.
func workerName() string {
	host, _ := os.Hostname() // else the number of the process has to do
	name := strings.Map(func(r rune) rune {
		if elsewhere.Valid(string(r)) {
			return r
		}
		return '-'
	}, strings.ToValidUTF8(host, ""))
	name = cmp.Or(name, "worker")
	return name[:min(len(name), 40)] + "-" + strconv.Itoa(os.Getpid())
}

// offerOf is what a worker says of this machine.
func offerOf(name, version string, has []string) elsewhere.Offer {
	host, _ := os.Hostname()
	return elsewhere.Offer{
		Worker: name, Host: strings.ToValidUTF8(host[:min(len(host), 200)], ""), Version: version, Has: has,
		Memory: elsewhere.Memory(), Cores: runtime.NumCPU(), Fast: gemm.Best == gemm.AVX512,
	}
}

