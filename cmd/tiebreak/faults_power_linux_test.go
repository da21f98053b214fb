package main

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
)

// TestFaultPower: the machine of the server loses its power at random moments while sixteen annotators answer: the process is killed, and
// what it has not synced is gone, all of it or a part by chance. No acknowledged answer is lost, and none is there twice.
func TestFaultPower(t *testing.T) {
	t.Parallel()
	d := newFaultDisk(t)
	c := newCrowd(t, 16, d.dir)
	moments, cuts, pages := rng.New(4, "moments of power cuts", 0), faults(t, 4), 0
	for k := range cuts {
		c.killed(time.Duration(moments.Int64N(int64(400 * time.Millisecond))))
		pages += d.cut(k, []float64{0, 0.5}[k%2])
		c.back(1)
	}
	n, lost, twice := c.check()
	t.Logf("%d power cuts, which took %d pages that were not synced; %d acknowledged answers, %d lost, %d twice", cuts, pages, n, lost, twice)
	if lost != 0 || twice != 0 || n < 16*(cuts+1) {
		t.Errorf("%d acknowledged, %d lost, %d twice", n, lost, twice)
	}
}

// TestFaultPowerControl: on a disk whose syncs do nothing a power cut takes acknowledged answers, and the check of TestFaultPower finds
// that.
func TestFaultPowerControl(t *testing.T) {
	t.Parallel()
	d := newFaultDisk(t)
	c := newCrowd(t, 4, d.dir)
	d.do("lie on")
	c.each(func(k int) error { return c.all[k].GoOn(len(c.all[k].Acked) + 5) })
	c.server.kill()
	if pages := d.cut(1, 0); pages == 0 {
		t.Error("the power cut took nothing")
	}
	if n, lost, twice := c.check(); lost != len(c.all)*5 || twice != 0 {
		t.Errorf("%d acknowledged, %d lost, %d twice: the check does not find the loss of all since syncs did nothing", n, lost, twice)
	}
}

// diskFaults are the ways in which a disk fails: the commands by which it begins and ends.
var diskFaults = []struct{ name, begin, end string }{
	{"no room", "room 0", "room all"},
	{"writes fail", "fail write", "fail no"},
	{"syncs fail", "fail sync", "fail no"},
}

// TestFaultDiskError: while the disk is full, or cannot write or sync, nothing is acknowledged that a power cut would take, /readyz says
// that no answer can be recorded, and what is recorded can be read. When the disk works again, so does the server.
func TestFaultDiskError(t *testing.T) {
	t.Parallel()
	for _, fault := range diskFaults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			d := newFaultDisk(t)
			c := newCrowd(t, 4, d.dir)
			const more = 20
			for round := range faults(t, 1) {
				d.do(fault.begin)
				var waiting sync.WaitGroup
				waiting.Go(func() { c.try(func(k int) error { return c.all[k].GoOn(len(c.all[k].Acked) + more) }) })
				if says := c.ready(http.StatusServiceUnavailable); !strings.Contains(says, "disk") {
					t.Errorf("/readyz does not say that it is the disk: %s", says)
				}
				if status, out, errs := cli(t, "export", "--data", c.data, "--session", string(c.id)); status != 0 || strings.Count(out, "\n") < len(c.all) {
					t.Errorf("export: status %d, %s", status, errs)
				}
				d.do(fault.end)
				waiting.Wait()
				c.ready(http.StatusOK)
				c.server.kill()
				d.cut(round, 0)
				c.back(1)
			}
			n, lost, twice := c.check()
			t.Logf("%d acknowledged answers, %d lost, %d twice", n, lost, twice)
			if want := len(c.all) * (1 + (more+1)*faults(t, 1)); lost != 0 || twice != 0 || n != want {
				t.Errorf("%d acknowledged, want %d; %d lost, %d twice", n, want, lost, twice)
			}
		})
	}
}

// TestFaultDiskErrorControl: annotators that take for recorded what they have sent to a server whose disk fails lose answers, and the
// check of TestFaultDiskError finds that.
func TestFaultDiskErrorControl(t *testing.T) {
	t.Parallel()
	for _, fault := range diskFaults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			d := newFaultDisk(t)
			c := newCrowd(t, 4, d.dir)
			for wait := time.Second; len(c.recorded) == 0 && wait < time.Minute; wait *= 2 {
				d.do(fault.begin)
				c.killed(wait)
				c.trust()
				d.do(fault.end)
				d.cut(1, 0)
				c.back(1)
			}
			if n, lost, twice := c.check(); lost == 0 || lost > len(c.recorded) || twice != 0 {
				t.Errorf("%d taken for recorded, %d of them without acknowledgement, %d lost, %d twice: the check finds no loss", n, len(c.recorded), lost, twice)
			}
		})
	}
}
