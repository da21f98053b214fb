package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nats-io/nkeys"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// A Worker is a worker on another machine, which proves who it is by a key.
type Worker struct {
	Name      string `json:"name"`       // elsewhere.Valid accepts it
	PublicKey string `json:"public_key"` // nkey of a user
}

const (
	maxWorkers     = 1000
	maxWorkersFile = 1 << 20 // bytes
)

// checkWorkers returns an error of kind Invalid if a name or key is none, or is there twice.
func checkWorkers(workers []Worker) error {
	if len(workers) > maxWorkers {
		return idrl.Errorf(idrl.Invalid, "there are %d workers; at most %d are allowed", len(workers), maxWorkers)
	}
	names, keys := map[string]bool{}, map[string]bool{}
	for _, w := range workers {
		switch {
		case !elsewhere.Valid(w.Name):
			return idrl.Errorf(idrl.Invalid, "%.100q cannot be the name of a worker: use up to 64 letters, digits, - and _", w.Name)
		case !nkeys.IsValidPublicUserKey(w.PublicKey):
			return idrl.Errorf(idrl.Invalid, "the key of the worker %s is no public key of a user of NATS", w.Name)
		case names[w.Name] || keys[w.PublicKey]:
			return idrl.Errorf(idrl.Invalid, "the worker %s or its key is listed twice", w.Name)
		}
		names[w.Name], keys[w.PublicKey] = true, true
	}
	return nil
}

// WorkersFile returns the file of the workers in a data folder.
func WorkersFile(folder string) string { return filepath.Join(folder, "workers.json") }

// LoadWorkers reads the workers of a data folder; none if there is no file. The kind of error is Damaged
// if it holds something else.
func LoadWorkers(folder string) ([]Worker, error) {
	f, err := os.Open(WorkersFile(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the workers: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxWorkersFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the workers: %w", err)
	}
	var file struct {
		Workers []Worker `json:"workers"`
	}
	if len(text) > maxWorkersFile {
		err = errors.New("it is too large")
	} else if err = json.Unmarshal(text, &file); err == nil {
		err = checkWorkers(file.Workers)
	}
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "%s is no list of workers: %v", f.Name(), err)
	}
	return file.Workers, nil
}

// SaveWorkers replaces the workers of a data folder, sorted by name, in one step. Only the user of the process may read
// the file.
func SaveWorkers(folder string, workers []Worker) (err error) {
	if err := checkWorkers(workers); err != nil {
		return err
	}
	workers = slices.SortedFunc(slices.Values(workers), func(a, b Worker) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	text, err := json.MarshalIndent(map[string]any{"workers": workers}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the workers: %w", err)
	}
	f, err := os.CreateTemp(folder, "workers-*.json") // 0600
	if err != nil {
		return fmt.Errorf("write the workers: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write the workers: %w", err), os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), WorkersFile(folder))
}

// NewKey returns a public key, and the seed that proves it, which is secret.
func NewKey() (public string, seed []byte, err error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return "", nil, fmt.Errorf("make a key: %w", err)
	}
	defer key.Wipe()
	if public, err = key.PublicKey(); err != nil {
		return "", nil, fmt.Errorf("make a key: %w", err)
	}
	if seed, err = key.Seed(); err != nil {
		return "", nil, fmt.Errorf("make a key: %w", err)
	}
	return public, append([]byte(nil), seed...), nil
}
