package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	nats "github.com/nats-io/nats-server/v2/server"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere/bynats"
	"tiebreak/internal/train/elsewhere/embedded"
)

// A key that the command makes lets its worker in, and no longer when it is revoked.
func TestWorkerKey(t *testing.T) {
	t.Parallel()
	dir, key := t.TempDir(), filepath.Join(t.TempDir(), "w1.nkey")
	status, out, errs := cli(t, "worker-key", "w1", "--data", dir, "--out", key)
	if status != 0 || !strings.Contains(out, key) || !strings.Contains(out, "tiebreak worker ") {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	seed, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(out, strings.TrimSpace(string(seed))) {
		t.Errorf("the key is not secret: %v, %v, %s", info, err, out)
	}
	workers, err := embedded.LoadWorkers(dir)
	if err != nil || len(workers) != 1 || workers[0].Name != "w1" {
		t.Fatalf("workers %v, %v", workers, err)
	}
	server, err := embedded.Start(t.Context(), embedded.Config{Listen: "127.0.0.1:0", Dir: t.TempDir(), Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	cfg := bynats.Config{URLs: "nats://" + server.Addr().String(), Name: "w1", Credentials: key}
	if _, err := bynats.Open(t.Context(), cfg); idrl.KindOf(err) != idrl.Unavailable { // let in: no server of Tiebreak has made streams
		t.Errorf("with the key: %v", err)
	}
	checkBlock(t, dir, workers[0])
	checkLines(t, dir, key, workers[0])
	if workers, err = embedded.LoadWorkers(dir); err != nil || len(workers) > 0 {
		t.Fatalf("workers %v, %v", workers, err)
	}
	must.Do(t, server.Reload(workers))
	if _, err := bynats.Open(t.Context(), cfg); idrl.KindOf(err) != idrl.Forbidden {
		t.Errorf("with the revoked key: %v", err)
	}
}

// checkBlock: NATS reads the block that the command prints for its configuration as the permissions of the embedded server.
func checkBlock(t *testing.T, dir string, w embedded.Worker) {
	t.Helper()
	_, block, _ := cli(t, "worker-key", "--permissions", w.Name, "--data", dir)
	file := filepath.Join(t.TempDir(), "nats.conf")
	must.Do(t, os.WriteFile(file, []byte("authorization {\n  users: [\n"+block+"  ]\n}\n"), 0o600))
	o, err := nats.ProcessConfigFile(file)
	if err != nil || len(o.Nkeys) != 1 {
		t.Fatalf("%v of\n%s", err, block)
	}
	publish, subscribe := bynats.Permissions(w.Name)
	got := o.Nkeys[0]
	if got.Nkey != w.PublicKey || !slices.Equal(got.Permissions.Publish.Allow, publish) || !slices.Equal(got.Permissions.Subscribe.Allow, subscribe) {
		t.Errorf("NATS reads %+v of\n%s", got, block)
	}
}

// checkLines: what the command says and does of the only worker w1, until it is revoked.
func checkLines(t *testing.T, dir, key string, w embedded.Worker) {
	t.Helper()
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"--list", 0, w.PublicKey},
		{"--permissions w1", 0, "nkey: " + w.PublicKey},
		{"--permissions w1", 0, `"tiebreak.from.w1.>"`},
		{"--permissions w2", 1, "--list"},
		{"w1", 1, "has a key already"},
		{"w2 --out " + key, 1, "exists already"},
		{"w/2 --out w2", 1, "letters"},
		{"", 2, "give the name"},
		{"w2 --list", 2, "give the name"},
		{"--list --out x", 2, "give the name"},
		{"--revoke w2", 1, "--list"},
		{"--revoke w1", 0, "revoked"},
		{"--list", 0, "No worker has a key"},
	} {
		args := append([]string{"worker-key", "--data", dir}, strings.Fields(test.args)...)
		if status, out, errs := cli(t, args...); status != test.status || !strings.Contains(out+errs, test.says) {
			t.Errorf("worker-key %s: status %d, want %d: %s%s", test.args, status, test.status, out, errs)
		}
	}
	none, out := filepath.Join(dir, "none"), filepath.Join(dir, "w2")
	if status, _, errs := cli(t, "worker-key", "w2", "--data", none, "--out", out); status != 1 || !strings.Contains(errs, "no data folder") {
		t.Errorf("without a folder: status %d: %s", status, errs)
	}
}
