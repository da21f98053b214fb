package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"tiebreak/internal/lab/experiment"
)

// format is the version of the files of a Folder, and engine that of what
// computes them. Raise engine when a change makes equal experiments give other
// runs, so that no old run is taken for a new one.
const (
	format = 1
	engine = 3
)

// A Folder keeps finished runs as files: DIR/NAME/METHOD/SEED.json, with a dash
// for a colon in METHOD. A file
// appears whole or not at all. One that is damaged, or that is from another
// version or other settings, counts as missing.
type Folder struct {
	dir  string
	warn func(string)

	lock sync.Mutex // guards told
	told map[string]bool
}

var _ experiment.Store = (*Folder)(nil)

// FolderStore returns a store in dir, which need not exist. warn, which may be
// nil, is told in a sentence why a file is not used, once for each experiment
// and reason. It may be called by several goroutines, by one at a time.
func FolderStore(dir string, warn func(string)) *Folder {
	return &Folder{dir: dir, warn: warn, told: map[string]bool{}}
}

// keptRun is a file. Checksum is the SHA-256 of Run, so that no half of a file
// and no edited one is taken for whole.
type keptRun struct {
	keptHead
	Checksum string          `json:"checksum"`
	Run      json.RawMessage `json:"run"`
}

// keptHead says what the run of a file is.
type keptHead struct {
	Format      int    `json:"format"`
	Experiment  string `json:"experiment"`
	Method      string `json:"method"`
	Seed        uint64 `json:"seed"`
	Fingerprint string `json:"fingerprint"` // of all that determines the run
}

// Reasons for not using a file.
var (
	errDamaged = errors.New("damaged")
	errForeign = errors.New("from other settings or another version")
)

// Load returns the run of a method on a seed, and whether it was kept.
func (f *Folder) Load(e experiment.Experiment, method string, seed uint64) (experiment.Run, bool) {
	path := f.path(e, method, seed)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return experiment.Run{}, false
	}
	var r experiment.Run
	if err == nil {
		r, err = DecodeRun(e, method, seed, data)
	}
	if err != nil {
		f.tell(e.Name(), path, err)
	}
	return r, err == nil
}

// EncodeRun returns the bytes of the file of a run.
func EncodeRun(e experiment.Experiment, method string, seed uint64, r experiment.Run) ([]byte, error) {
	return encodeKept(head(e, method, seed), r)
}

// DecodeRun is the inverse of EncodeRun. It returns an error if the bytes are damaged, or those of
// another run, of other settings or of another version.
func DecodeRun(e experiment.Experiment, method string, seed uint64, data []byte) (experiment.Run, error) {
	r, err := decodeKept[experiment.Run](data, head(e, method, seed))
	for _, v := range [][]float64{r.Regret, r.MSE, r.Cosine} {
		if err == nil && len(v) != len(e.Counts()) {
			err = errDamaged
		}
	}
	return r, err
}

// head says what a run is.
func head(e experiment.Experiment, method string, seed uint64) keptHead {
	return keptHead{format, e.Name(), method, seed, Fingerprint(e)}
}

// readKept returns the run in a file if its head is want.
func readKept[T any](path string, want keptHead) (run T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return run, err
	}
	return decodeKept[T](data, want)
}

// decodeKept returns the run in the bytes of a file if their head is want.
func decodeKept[T any](data []byte, want keptHead) (run T, err error) {
	var k keptRun
	if err := json.Unmarshal(data, &k); err != nil || k.Checksum != sum(k.Run) {
		return run, errDamaged
	}
	if k.keptHead != want {
		return run, errForeign
	}
	var r T
	if err := json.Unmarshal(k.Run, &r); err != nil {
		return run, errDamaged
	}
	return r, nil
}

// writeKept writes a file that readKept reads.
func writeKept(path string, head keptHead, run any) error {
	data, err := encodeKept(head, run)
	if err != nil {
		return err
	}
	return writeWhole(path, data)
}

// encodeKept returns the bytes of a file.
func encodeKept(head keptHead, run any) ([]byte, error) {
	raw, err := json.Marshal(run) // float64 in the shortest form that reads back as the same number
	if err != nil {
		return nil, fmt.Errorf("keep the run of %s on seed %d: %w", head.Method, head.Seed, err)
	}
	data, err := json.Marshal(keptRun{head, sum(raw), raw})
	if err != nil {
		return nil, fmt.Errorf("keep the run of %s on seed %d: %w", head.Method, head.Seed, err)
	}
	return append(data, '\n'), nil
}

// tell warns of a file, unless the same was said of another one of the experiment.
func (f *Folder) tell(experiment, path string, err error) {
	f.lock.Lock()
	defer f.lock.Unlock()
	reason := "cannot be read"
	for _, known := range []error{errDamaged, errForeign} {
		if errors.Is(err, known) {
			reason = "is " + known.Error()
		}
	}
	if key := experiment + " " + reason; f.warn != nil && !f.told[key] {
		f.told[key] = true
		f.warn(path + " " + reason + ": this run, and others like it, are computed again")
	}
}

// Save keeps a run.
func (f *Folder) Save(e experiment.Experiment, method string, seed uint64, r experiment.Run) error {
	return writeKept(f.path(e, method, seed), head(e, method, seed), r)
}

func (f *Folder) path(e experiment.Experiment, method string, seed uint64) string {
	return f.file(e.Name(), method, seed)
}

func (f *Folder) file(experiment, method string, seed uint64) string {
	return filepath.Join(f.dir, experiment, strings.ReplaceAll(method, ":", "-"), strconv.FormatUint(seed, 10)+".json")
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// Fingerprint stands for all of an experiment that determines a run but for its
// method and seed, and for the version of what computes it.
func Fingerprint(e experiment.Experiment) string {
	c := e.Config
	c.Methods, c.Seeds, c.FirstSeed = nil, 0, 0
	c.Measure = unlessOne(c.Measure) // 1 is left out, as it was before there was a choice
	return fingerprintOf(engine, c)
}

// fingerprintOf returns that of a configuration under a version of what computes runs.
func fingerprintOf(engine int, config any) string {
	b, err := json.Marshal(struct {
		Engine int
		Config any
	}{engine, config})
	if err != nil {
		panic(err) // a configuration is words and numbers
	}
	return sum(b)
}

// writeWhole writes a file as a whole, and makes its folder if need be: no reader sees
// a part of the file, also after a crash.
func writeWhole(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	tmp, err := os.CreateTemp(dir, ".unfinished-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
