package main

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/carriertest"
	"tiebreak/internal/train/training"
	"tiebreak/web"
)

// A session that no place can train is refused before it is made: by the server, by the command beside it, and when it is copied.
// The message names what is missing at which worker. It can be made anyway, and one that a worker can train is not refused.
func TestPlaced(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	a, err := openApp(t.Context(), data, envs.Catalogue, site{away: workplaceFlags{here: -1}}, slog.New(slog.DiscardHandler), os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.close() })
	create := func(env string, anyway bool) error {
		_, err := sessions{a}.Create(t.Context(), idrl.SessionSpec{Title: "Walk", Env: env, Kind: idrl.CompareClips, Seed: 1}, "", anyway)
		return err
	}
	refused := func(what string, err error, says ...string) {
		t.Helper()
		if idrl.KindOf(err) != idrl.Conflict {
			t.Fatalf("%s: %v, want a conflict", what, err)
		}
		for _, part := range says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in: %v", what, part, err)
			}
		}
	}
	refused("without workers", create("chain", false), "there is no worker", "--trainings-here -1")

	network := &carriertest.Network{}
	hub := elsewhere.NewHub(elsewhere.HubConfig{Pool: a.pool, Version: "v1", Barred: a.bars.Of, Log: a.log})
	a.away = &workplace{hub: hub, stop: func() {}}
	var has []string
	for _, h := range training.Has(envs.Catalogue()) {
		if !strings.Contains(h, "gridworld") {
			has = append(has, h)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { _ = hub.Run(ctx, network.Dial()) })
	all.Go(func() { a.keepWorkers(ctx) })
	for _, o := range []elsewhere.Offer{{Worker: "lab7", Version: "v1", Has: has}, {Worker: "lab8", Version: "v0", Has: training.Has(envs.Catalogue())}} {
		agent := must.Get(elsewhere.NewAgent(elsewhere.AgentConfig{
			Carrier: network.Dial(), Offer: o, Command: func(string) []string { return []string{os.Args[0]} }, Here: 50 * time.Millisecond, Log: a.log,
		}))(t)
		all.Go(func() { _ = agent.Run(ctx) })
	}
	var out string
	waittest.Until(t, "the command to know both workers", func() bool {
		_, out, _ = cli(t, "workers", "--data", data)
		return strings.Contains(out, "lab7") && strings.Contains(out, "lab8")
	})
	if lacks := "worker lab7 lacks environment gridworld"; !strings.Contains(out, lacks) || strings.Contains(out, "environment chain") {
		t.Errorf("the command does not say %q, or more than that:\n%s", lacks, out)
	}
	says := []string{"worker lab7 lacks environment gridworld", "worker lab8 gets no jobs: it runs version v0, and the server version v1"}
	refused("the server", create("gridworld", false), says...)
	if err := create("chain", false); err != nil {
		t.Errorf("what lab7 can train: %v", err)
	}
	if err := create("gridworld", true); err != nil {
		t.Errorf("anyway: %v", err)
	}
	list, err := a.db.Sessions(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("%d sessions, want those that were not refused: %v", len(list), err)
	}
	placedCommands(t, data, says)
	for _, s := range list {
		_, err := sessions{a}.Clone(t.Context(), s.Spec.ID, "", web.DrawSeed(), "Ada", false)
		if strings.Contains(s.Spec.Env, "gridworld") {
			refused("a copy", err, says...)
		} else if err != nil {
			t.Errorf("a copy that lab7 can train: %v", err)
		}
	}
}

// placedCommands has commands refuse what says names, and make it anyway.
func placedCommands(t *testing.T, data string, says []string) {
	t.Helper()
	made := func(args ...string) string {
		t.Helper()
		status, out, errs := cli(t, args...)
		if status != 0 {
			t.Fatalf("%v: %s", args, errs)
		}
		return out
	}
	for _, args := range [][]string{{"create", "--env", "gridworld"}, {"clone"}} {
		args = append([]string{"session", args[0], "--data", data}, args[1:]...)
		if args[1] == "clone" {
			args = append(args, gridworldSession(t, data))
		}
		status, _, errs := cli(t, args...)
		for _, part := range append(says, "--anyway") {
			if status == 0 || !strings.Contains(errs, part) {
				t.Errorf("%v: status %d, %q is not in: %s", args, status, part, errs)
			}
		}
		made(append(args, "--anyway")...)
	}
	made("session", "create", "--data", data, "--env", "chain")
}

// gridworldSession returns the id of a session of Gridworld.
func gridworldSession(t *testing.T, data string) string {
	t.Helper()
	_, out, _ := cli(t, "session", "list", "--data", data)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "gridworld") {
			return strings.Fields(line)[0]
		}
	}
	t.Fatalf("no session of Gridworld in\n%s", out)
	return ""
}
