package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/waittest"
	"tiebreak/store"
)

// TestLitestream: Litestream replicates a database beside a server under load; what it restores is sound, and has the answers
// that were acknowledged before it was stopped.
func TestLitestream(t *testing.T) {
	t.Parallel()
	litestream := os.Getenv("TIEBREAK_LITESTREAM")
	if litestream == "" {
		t.Skip("'go tool task test:litestream' runs it")
	}
	data, addr, replica := t.TempDir(), freeAddr(t), filepath.Join(t.TempDir(), "replica")
	id, link := newLink(t, data, addr, "--env", "gridworld", "--kind", "clip_comparison", "--budget", "1000")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	config := filepath.Join(t.TempDir(), "litestream.yml")
	path := filepath.Join(data, store.FileName)
	text := fmt.Sprintf("dbs:\n  - path: %s\n    replica: {type: file, path: %s}\n", path, replica)
	must.Do(t, os.WriteFile(config, []byte(text), 0o600))
	var said syncBuffer
	replicate := exec.Command(litestream, "replicate", "-config", config)
	replicate.Stdout, replicate.Stderr = &said, &said
	must.Do(t, replicate.Start())
	l := join(t, link, 1)
	if err := l.Label(60); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	ended := make(chan error, 1)
	go func() { ended <- replicate.Wait() }()
	must.Do(t, replicate.Process.Signal(syscall.SIGTERM))
	if err := waittest.For(t, ended, "Litestream to stop"); err != nil {
		t.Logf("litestream: %v", err)
	}
	p.kill()
	if out, err := exec.Command(litestream, "replicate", "-once", "-config", config).CombinedOutput(); err != nil { // it stops without what came in the last second
		t.Fatalf("%v: %s", err, out)
	}
	restored := t.TempDir()
	began := time.Now()
	if out, err := exec.Command(litestream, "restore", "-config", config, "-o", filepath.Join(restored, store.FileName), path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, &said)
	}
	t.Logf("restored in %v", time.Since(began))
	if text := mustCLI(t, "doctor", "--data", restored); strings.Count(text, " sound\n") != 4 {
		t.Errorf("doctor:\n%s", text)
	}
	if got := mustCLI(t, "export", "--data", restored, "--session", id); strings.Count(got, "\n") < 60 {
		t.Errorf("%d answers of 60 were restored\n%s", strings.Count(got, "\n"), &said)
	}
}
