package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/waittest"
)

// A disk is a small one of its own, in memory, that can be filled.
type disk struct {
	t   *testing.T
	dir string
}

func newDisk(t *testing.T) disk {
	t.Helper()
	d := disk{t, t.TempDir()}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=160m"); err != nil {
		t.Skipf("a small disk cannot be mounted (%v): this needs root with the right to mount; TestFullDiskLosesNothing tests the store without it", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return d
}

// fill leaves no room; free takes that back.
func (d disk) fill() {
	d.t.Helper()
	f, err := os.Create(filepath.Join(d.dir, "filler"))
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	for block := bytes.Repeat([]byte("full"), 1<<10); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("the disk is not full: %v", err)
	}
}

func (d disk) free() {
	d.t.Helper()
	if err := os.Remove(filepath.Join(d.dir, "filler")); err != nil {
		d.t.Fatal(err)
	}
}

// ready waits until the server is ready, or not.
func (c *crowd) ready(status int) (says string) {
	c.t.Helper()
	waittest.Until(c.t, fmt.Sprintf("/readyz to have status %d", status), func() bool {
		got, _, body := get(c.t, http.DefaultClient, "http://"+c.addr+"/readyz")
		says = body
		return got == status
	})
	return says
}

// TestFaultDisk: while the disk is full, /readyz says so and what is recorded can be read; answers are held. With room again
// they are recorded, each once, without a restart.
func TestFaultDisk(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	c := newCrowd(t, 4, d.dir)
	for range faults(t, 1) {
		d.fill()
		var more sync.WaitGroup
		more.Go(func() {
			c.try(func(k int) error { return c.all[k].GoOn(len(c.all[k].Acked) + 20) })
		})
		if says := c.ready(http.StatusServiceUnavailable); !strings.Contains(says, "disk") && !strings.Contains(says, "full") {
			t.Errorf("/readyz does not say that the disk is full: %s", says)
		}
		if status, out, errs := cli(t, "export", "--data", c.data, "--session", string(c.id)); status != 0 || strings.Count(out, "\n") < len(c.all) {
			t.Errorf("export on a full disk: status %d, %s", status, errs)
		}
		d.free()
		more.Wait()
		c.ready(http.StatusOK)
	}
	if n, lost, twice := c.check(); lost != 0 || twice != 0 || n != len(c.all)*(1+20*faults(t, 1)) {
		t.Errorf("%d acknowledged, %d lost, %d twice", n, lost, twice)
	}
}

// TestFaultDiskControl: annotators that take for recorded what they have sent to a server whose disk is full lose answers, and the
// check of TestFaultDisk finds that.
func TestFaultDiskControl(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	c := newCrowd(t, 4, d.dir)
	for wait := 2 * time.Second; len(c.recorded) == 0 && wait < time.Minute; wait *= 2 {
		d.fill()
		c.killed(wait)
		c.trust()
		d.free()
		c.back(1)
	}
	if n, lost, twice := c.check(); lost == 0 || lost > len(c.recorded) || twice != 0 {
		t.Errorf("%d taken for recorded, %d of them without acknowledgement, %d lost, %d twice: the check finds no loss", n, len(c.recorded), lost, twice)
	}
}
