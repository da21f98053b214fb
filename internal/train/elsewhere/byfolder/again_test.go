package byfolder_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/train/elsewhere/byfolder"
)

// Readers and senders go over to a folder that was put in the place of the one that they had opened.
func TestFolderIsMovedAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "workers")
	synctest.Test(t, func(t *testing.T) {
		open := func() *byfolder.Carrier {
			c := must.Get(byfolder.Open(byfolder.Config{Dir: dir}))(t)
			return c
		}
		server, worker := open(), open()
		up := receive(t, server, "from.>")
		must.Do(t, os.Rename(dir, dir+".old"))
		must.Do(t, os.Mkdir(dir, 0o700))
		time.Sleep(10 * time.Second)
		must.Do(t, worker.Send(t.Context(), "from.w1.s.l", []byte("after")))
		if got := <-up; string(got.Data) != "after" {
			t.Errorf("received %q", got.Data)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "sent", "from")); err != nil || len(left) != 1 {
			t.Errorf("the new folder has %v, %v", left, err)
		}
		must.Do(t, worker.Close())
		must.Do(t, server.Close())
	})
}

// The same is heard again when it is told again, also by another process, and one file is left of it.
func TestToldAgain(t *testing.T) {
	dir := t.TempDir()
	server := open(t, byfolder.Config{Dir: dir, Poll: quick})
	heard := must.Get(server.Watch(t.Context(), "offers.>"))(t)
	for range 3 {
		worker := open(t, byfolder.Config{Dir: dir, Poll: quick})
		for range 2 {
			must.Do(t, worker.Tell(t.Context(), "offers.w1", []byte("same")))
			if got := waittest.For(t, heard, "what is told again"); string(got.Data) != "same" {
				t.Errorf("heard %q", got.Data)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "told", "offers", "*")); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
}
