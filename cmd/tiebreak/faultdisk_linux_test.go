package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
)

// faultDiskProgram is the program of internal/check/faultdisk, built once for all tests. It is a module of its own: the product does not
// depend on FUSE.
var faultDiskProgram = sync.OnceValues(func() (string, error) {
	dir, err := scratch()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "faultdisk")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = "../../internal/check/faultdisk"
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build faultdisk: %w\n%s", err, out)
	}
	return path, nil
})

// A faultDisk is a disk that loses what was not synced when its power is cut, and fails when it is told to.
type faultDisk struct {
	t   *testing.T
	dir string
	in  io.Writer
	out <-chan string // its replies
}

func newFaultDisk(t *testing.T) *faultDisk {
	t.Helper()
	path := must.Get(faultDiskProgram())(t)
	d := &faultDisk{t: t, dir: t.TempDir()}
	cmd := exec.Command(path, d.dir)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	stdout := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	replies := make(chan string, 1)
	d.in, d.out = in, replies
	go func() {
		defer close(replies)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			replies <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		_ = in.Close() // then it unmounts the folder and ends
		_ = cmd.Wait()
	})
	if said := waittest.For(t, d.out, "the disk"); said != "ok" {
		t.Skipf("a disk cannot be mounted by FUSE (%s): this needs /dev/fuse, and root with the right to mount or the package fuse3", said)
	}
	return d
}

// do has the disk carry out a command, and returns what it says.
func (d *faultDisk) do(words ...any) string {
	d.t.Helper()
	command := strings.TrimSpace(fmt.Sprintln(words...))
	if _, err := fmt.Fprintln(d.in, command); err != nil {
		d.t.Fatal(err)
	}
	said, ok := strings.CutPrefix(waittest.For(d.t, d.out, "the disk to "+command), "ok")
	if !ok {
		d.t.Fatalf("%s: the disk fails", command)
	}
	return strings.TrimSpace(said)
}

// cut cuts the power, and returns how many pages are lost, as a number. A share of what was not synced is there afterwards.
func (d *faultDisk) cut(seed int, share float64) (pages int) {
	d.t.Helper()
	if _, err := fmt.Sscan(d.do("cut", seed, share), &pages); err != nil {
		d.t.Fatal(err)
	}
	return pages
}
