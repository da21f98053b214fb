package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/embedded"
)

// workerKeyFlags are the flags of worker-key.
type workerKeyFlags struct {
	data, name, out, revoke, permissions string
	list                                 bool
}

func (f *workerKeyFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.name, "name", "", "`name` of the worker to make a key for: up to 64 letters, digits, - and _")
	fs.StringVar(&f.out, "out", "", "`file` to write the key to, which must not exist; default: NAME.nkey")
	fs.BoolVar(&f.list, "list", false, "list the workers that have keys")
	fs.StringVar(&f.revoke, "revoke", "", "`name` of a worker whose key is to be refused from now on")
	fs.StringVar(&f.permissions, "permissions", "", "`name` of a worker to print a block for, for the configuration of a NATS server of your own")
}

func workerKeyCommand() command {
	c := ofFolder("worker-key", "make, list and revoke keys of workers on other machines",
		"Makes the key by which a worker on another machine proves to the server who it is. The server may be running. The file has the\n"+
			"secret part, which is written only once: move it to the worker's machine. The data folder holds the public part.")
	c.Usage, c.Unflagged = "NAME | --list | --revoke NAME | --permissions NAME [flags]", "name"
	c.Example = "tiebreak worker-key gpu-1 --data tiebreak-data --out gpu-1.nkey"
	return shared.With(c, (*workerKeyFlags).declare, runWorkerKey)
}

func runWorkerKey(_ context.Context, std stdio, f *workerKeyFlags) error {
	asked := 0
	for _, is := range []bool{f.name != "", f.list, f.revoke != "", f.permissions != ""} {
		if is {
			asked++
		}
	}
	if asked != 1 || f.out != "" && f.name == "" {
		return fmt.Errorf("%w: give the name of a worker, or one of --list, --revoke and --permissions", errUsage)
	}
	workers, err := embedded.LoadWorkers(f.data)
	if err != nil {
		return err
	}
	switch {
	case f.list:
		none := fmt.Sprintf("No worker has a key. '%s' makes one.", commandLine("worker-key", "NAME", "--data", f.data))
		return listed(std.Out, workers, none, "WORKER\tPUBLIC KEY", func(w io.Writer, one embedded.Worker) {
			fmt.Fprintf(w, "%s\t%s\n", one.Name, one.PublicKey)
		})
	case f.revoke != "":
		return revokeWorker(std, f, workers)
	case f.permissions != "":
		return printPermissions(std, f, workers)
	}
	return makeWorkerKey(std, f, workers)
}

// find returns the index of the worker of that name, or an error of kind NotFound.
func (f *workerKeyFlags) find(workers []embedded.Worker, name string) (int, error) {
	k := slices.IndexFunc(workers, func(w embedded.Worker) bool { return w.Name == name })
	if k < 0 {
		return k, idrl.Errorf(idrl.NotFound, "no worker %.100q has a key; '%s' lists those that have", name, commandLine("worker-key", "--list", "--data", f.data))
	}
	return k, nil
}

func revokeWorker(std stdio, f *workerKeyFlags, workers []embedded.Worker) error {
	k, err := f.find(workers, f.revoke)
	if err != nil {
		return err
	}
	if err := embedded.SaveWorkers(f.data, slices.Delete(workers, k, k+1)); err != nil {
		return err
	}
	_, err = fmt.Fprintf(std.Out, "The key of the worker %s is revoked. The server refuses it as soon as it has read the list of workers again. From the configuration of\n"+
		"a NATS server of your own, remove it yourself.\n", f.revoke)
	return err
}

func printPermissions(std stdio, f *workerKeyFlags, workers []embedded.Worker) error {
	k, err := f.find(workers, f.permissions)
	if err != nil {
		return err
	}
	publish, subscribe := bynats.Permissions(workers[k].Name)
	list := func(subjects []string) string { return "[\"" + strings.Join(subjects, "\", \"") + "\"]" }
	_, err = fmt.Fprintf(std.Out, "{ # worker %s\n  nkey: %s\n  permissions: {\n    publish: { allow: %s }\n    subscribe: { allow: %s }\n  }\n}\n",
		workers[k].Name, workers[k].PublicKey, list(publish), list(subscribe))
	return err
}

// makeWorkerKey writes a new key. It writes the file first: a key that is listed without one could not be used.
func makeWorkerKey(std stdio, f *workerKeyFlags, workers []embedded.Worker) (err error) {
	if !elsewhere.Valid(f.name) {
		return idrl.Errorf(idrl.Invalid, "%.100q cannot be the name of a worker: use up to 64 letters, digits, - and _", f.name)
	}
	if _, err := f.find(workers, f.name); err == nil {
		return idrl.Errorf(idrl.Conflict, "the worker %s has a key already; '%s' revokes it", f.name, commandLine("worker-key", "--revoke", f.name, "--data", f.data))
	}
	if info, err := os.Stat(f.data); err != nil || !info.IsDir() {
		return idrl.Errorf(idrl.NotFound, "there is no data folder %s; name that of the server with --data", f.data)
	}
	if f.out == "" {
		f.out = f.name + ".nkey"
	}
	public, seed, err := embedded.NewKey()
	if err != nil {
		return err
	}
	if err := writeNew(f.out, append(seed, '\n')); err != nil {
		return err
	}
	if err := embedded.SaveWorkers(f.data, append(workers, embedded.Worker{Name: f.name, PublicKey: public})); err != nil {
		return errors.Join(err, os.Remove(f.out))
	}
	path, err := filepath.Abs(f.out)
	if err != nil {
		path = f.out
	}
	_, err = fmt.Fprintf(std.Out, "Worker:      %s\nPublic key:  %s\nKey:         %s (secret)\n\nMove the key to the worker's machine, and run there\n\n"+
		"    tiebreak worker --nats nats://HOST:4222 --name %s --credentials %s\n\nwhere HOST is the machine of the server, or of NATS.\n",
		f.name, public, path, f.name, quote(filepath.Base(f.out)))
	return err
}

// writeNew writes a file that must not exist, which only its owner may read.
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return idrl.Errorf(idrl.Conflict, "%s exists already; name another file", path)
	}
	if err != nil {
		return idrl.Errorf(idrl.Invalid, "%s cannot be written: %v", path, err)
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
