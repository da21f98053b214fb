//go:build unix

package workersdoc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
)

const examples = "../../../docs/examples/workers"

// stub stands for the program: it records its arguments, waits for SIGTERM, and ends with status 0.
const stub = `#!/bin/sh
trap 'echo TERM >> "$RECORD"; exit 0' TERM
printf '%s\n' "$@" > "$RECORD.new"
mv "$RECORD.new" "$RECORD"
while :; do sleep 0.05; done
`

// slurm starts slurm.sh as Slurm does, with the stub on PATH and variables of a task of an array job.
func slurm(t *testing.T, env ...string) (cmd *exec.Cmd, record string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("this test needs bash: ", err)
	}
	dir := t.TempDir()
	record = filepath.Join(dir, "record")
	if err := os.WriteFile(filepath.Join(dir, "tiebreak"), []byte(stub), 0o700); err != nil { //nolint:gosec // is run
		t.Fatal(err)
	}
	cmd = exec.Command(bash, filepath.Join(examples, "slurm.sh"))
	cmd.Env = append([]string{
		"PATH=" + dir + ":" + os.Getenv("PATH"), "RECORD=" + record, "SLURM_JOB_ID=4713",
		"SLURM_ARRAY_JOB_ID=4711", "SLURM_ARRAY_TASK_ID=2", "SLURM_CPUS_PER_TASK=3",
	}, env...)
	return cmd, record
}

// TestSlurm: the worker gets its arguments, and SIGTERM as Slurm sends it, to the shell alone; the status is the worker's.
func TestSlurm(t *testing.T) {
	for name, test := range map[string]struct {
		env  []string
		want string
	}{
		"folder": {[]string{"TIEBREAK_FOLDER=/shared/a folder"}, "worker|--folder|/shared/a folder|--name|slurm-4711-2|--slots|3|--idle|10m"},
		"NATS": {
			[]string{"TIEBREAK_NATS=tls://n:4222", "TIEBREAK_CREDENTIALS=/home/me/w.nkey"},
			"worker|--nats|tls://n:4222|--credentials|/home/me/w.nkey|--name|w|--slots|3|--idle|10m",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, record := slurm(t, test.env...)
			must.Do(t, cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if got := recorded(t, record); got != test.want {
				t.Errorf("the worker is started by %s, want %s", got, test.want)
			}
			must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
			if err := waittest.For(t, ended, "the end of the worker"); err != nil {
				t.Errorf("the job ends by %v", err)
			}
			if got := recorded(t, record); got != test.want+"|TERM" {
				t.Errorf("the worker has recorded %s", got)
			}
		})
	}
}

// recorded returns the lines of the stub's record when it is there.
func recorded(t *testing.T, record string) string {
	t.Helper()
	text := make(chan string, 1)
	go func() {
		for t.Context().Err() == nil {
			if b, err := os.ReadFile(record); err == nil {
				text <- strings.Join(strings.Split(strings.TrimSpace(string(b)), "\n"), "|")
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return waittest.For(t, text, "the record of the worker")
}

// Without a folder and an address the job fails, and says what is missing.
func TestSlurmWithoutPlace(t *testing.T) {
	for _, env := range [][]string{nil, {"TIEBREAK_NATS=tls://n:4222"}} {
		cmd, _ := slurm(t, env...)
		out, err := cmd.CombinedOutput()
		if want := []string{"TIEBREAK_FOLDER", "TIEBREAK_CREDENTIALS"}[len(env)]; err == nil || !strings.Contains(string(out), want) {
			t.Errorf("with %v: %v: %s", env, err, out)
		}
	}
}

// What Slurm reads of the script: time to hand jobs back, and the same job again.
func TestSlurmOptions(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(examples, "slurm.sh")))(t)
	lines := strings.Split(string(text), "\n")
	for _, want := range []string{"#SBATCH --signal=B:TERM@60", "#SBATCH --requeue", "#SBATCH --time=04:00:00"} {
		if k := slices.Index(lines, want); k < 0 || k > slices.Index(lines, "set -eu") {
			t.Errorf("there is no line %q before the first command", want)
		}
	}
}
