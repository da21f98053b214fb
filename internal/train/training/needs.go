package training

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// processor is a need of every job, because floating-point results are equal only on processors of one kind.
func processor() string { return "processor " + runtime.GOARCH }

// jobMemory is the memory that a job needs, MiB: some times that of trainings of robots, which take less than 100 MiB.
const jobMemory = 256

// Has returns the needs of jobs (Elsewhere) that a worker with a catalogue meets: its processor, and the environments that it can
// make.
func Has(list envs.List) []string {
	out := []string{processor()}
	for _, e := range list {
		if e.Unavailable == nil && !strings.HasPrefix(e.ID, recordings.IDPrefix) {
			out = append(out, has(e))
		}
	}
	return out
}

// has names an environment by all that its trainings depend on: the version of its files, its engine, and the library of
// behaviours that a user has made for it.
func has(e envs.Entry) string {
	text := "environment " + e.Ref()
	if e.Engine != "" {
		text += ", " + e.Engine
	}
	if e.LibraryPath != "" {
		if b, err := os.ReadFile(e.LibraryPath); err == nil { // else there is none
			sum := sha256.Sum256(b)
			text += ", library " + hex.EncodeToString(sum[:6])
		}
	}
	return text
}

// always returns the needs of the jobs of every session.
func always() []string { return []string{processor(), jobs.NeedMemory(jobMemory)} }

// Wants returns the needs that sessions may have, each as in Elsewhere: of a session without an environment, and of one of each
// environment that list can make.
func Wants(list envs.List) [][]string {
	out := [][]string{always()}
	for _, e := range list {
		if e.Unavailable == nil && !strings.HasPrefix(e.ID, recordings.IDPrefix) {
			out = append(out, append(always(), has(e)))
		}
	}
	return out
}

// A Travel has the needs and files of a job that may go to a worker on another machine.
type Travel struct {
	Needs []string    // jobs.Job.Needs
	Files []jobs.File // jobs.Job.Files
}

// Elsewhere returns what the jobs of a session need, and the files that they read: recordings.
func Elsewhere(list envs.List, spec idrl.SessionSpec) (Travel, error) {
	t := Travel{Needs: always()}
	if spec.Uploads() {
		return t, nil
	}
	e, err := list.Find(spec.Env)
	if err != nil {
		return Travel{}, err
	}
	if !strings.HasPrefix(e.ID, recordings.IDPrefix) {
		t.Needs = append(t.Needs, has(e))
		return t, nil
	}
	set, err := Recorded(list, spec)
	if err != nil {
		return Travel{}, err
	}
	if cameras, folder := set.Filmed(); cameras != nil { // other machines have no such need: it is done here
		t.Needs = append(t.Needs, "the videos in "+folder)
		return t, nil
	}
	files, err := set.Files()
	if err != nil {
		return Travel{}, err
	}
	for _, f := range files {
		t.Files = append(t.Files, jobs.File{
			Path: fmt.Sprintf("%s/%s/%s", recordings.FolderName, set.Name(), f.Name), Hash: f.Hash, Size: f.Size, Read: f.Read,
		})
	}
	return t, nil
}
