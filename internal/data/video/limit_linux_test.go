package video

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestLimits: a child runs within limits of memory, processor time and the size of files.
func TestLimits(t *testing.T) {
	c := run(t.Context(), "ffmpeg", nil, "-v", "error", "-f", "lavfi", "-i", "testsrc", "-f", "rawvideo", "pipe:1")
	defer c.cancel()
	out, err := c.StdoutPipe() // it waits until somebody reads
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[int]uint64{unix.RLIMIT_DATA: dataBytes, unix.RLIMIT_CPU: cpuSeconds, unix.RLIMIT_FSIZE: fileBytes, unix.RLIMIT_NOFILE: openFiles} {
		var got unix.Rlimit
		if err := unix.Prlimit(c.Process.Pid, what, nil, &got); err != nil || got.Max > want {
			t.Errorf("limit %d is %+v, with the error %v; want at most %d", what, got, err, want)
		}
	}
	c.cancel()
	_ = out.Close()
	if c.Wait() == nil {
		t.Error("it ended by itself")
	}
}
