package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/envs"
	"tiebreak/envs/chain"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/representation/representationtest"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/session"
	"tiebreak/internal/session/journaltest"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs/jobstest"
	"tiebreak/internal/train/trainer"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// featuresEnv names the data folder to the copy of this program that labels a session
// whose features are learnt, and is killed meanwhile.
const featuresEnv = "TIEBREAK_TEST_FEATURES_DIR"

// Rows of the log that such sessions get.
const (
	featuresRows = 45
	networkRows  = 29
)

// labelUnderLearntFeatures answers the questions of session "s" until there are enough,
// and prints the position of each row when it is acknowledged. Every twelfth row
// withdraws the answer before it.
func labelUnderLearntFeatures(ctx context.Context, dir string) error {
	db, err := store.Open(ctx, dir)
	if err != nil {
		return err
	}
	rec, err := db.Load(ctx, "s")
	if err != nil {
		return err
	}
	if rec.Spec.GoesOn() {
		return labelByAgents(ctx, db, rec)
	}
	env := chain.New(chain.Config{})
	model, err := belief.ForSpec(rec.Spec, env)
	if err != nil {
		return err
	}
	exact, err := solver.For(env)
	if err != nil {
		return err
	}
	method, err := acquisition.Find(rec.Spec.Acquisition)
	if err != nil {
		return err
	}
	return labelRows(ctx, db, featuresRows, session.Config{
		Record: rec, Model: model, Acquisition: method,
		Learner: representationtest.Learner{Every: 10, Dim: 16, Model: model}, Discount: 1,
		Trainer: &trainer.Thompson{
			NewEnv: func() idrl.Environment { return chain.New(chain.Config{}) }, Solver: exact, Kind: rec.Spec.Kind,
			Samples: 3, Pool: 8, Rollouts: 2, Mu: solver.Mu, MaxQueries: 200,
			Steps: func(tr *idrl.Trajectory, episode uint64) (idrl.StepsID, []byte, error) {
				return steps.Encode(steps.Of(tr, idrl.Steps{Env: "chain", Version: 1, Seed: rec.Spec.Seed, Episode: episode}))
			},
		},
	})
}

// labelByAgents is labelUnderLearntFeatures where policies are trained by soft
// actor-critic or by searches among gaits, briefly, and features, if they are learnt, are those of a network; jobs are
// done in this process.
func labelByAgents(ctx context.Context, db *store.DB, rec record.Record) error {
	cfg, err := sessionConfig(envs.Catalogue(), rec)
	if err != nil {
		return err
	}
	memory := jobstest.Memory{Store: db, Handler: &training.Handler{Envs: envs.Catalogue, Steps: 700, GaitSteps: 1000}}
	if cfg.Learner != nil {
		cfg.Learner = training.Fitter{FeatureLearner: cfg.Learner, Jobs: memory, Spec: cfg.Record.Spec}
	}
	cfg.Trainer = &training.Remote{Jobs: memory, Records: db, Spec: cfg.Record.Spec, Model: cfg.Model}
	return labelRows(ctx, db, networkRows, cfg)
}

// labelRows runs a session and adds rows to its log until there are enough.
func labelRows(ctx context.Context, db *store.DB, rows int, cfg session.Config) error {
	cfg.Journal, cfg.Publisher, cfg.Log = db, &live.Hub{}, slog.Default()
	cfg.Now = func() time.Time { return journaltest.T0 } // so that records can be compared
	log := cfg.Record.Log
	s, err := session.New(cfg)
	if err != nil {
		return err
	}
	go func() { _ = s.Run(ctx) }()
	if _, err := s.Claim(ctx, "a1"); err != nil { // as pages do when they connect
		return err
	}
	last := idrl.AnswerID("")
	if n := len(log); n > 0 {
		last = log[n-1].ID
	}
	for seq := len(log) + 1; seq <= rows; seq++ {
		if last, err = labelOnce(ctx, s, seq, last); err != nil {
			return err
		}
		fmt.Println(seq)
	}
	return db.Close()
}

// labelOnce adds row seq, and returns its id; last is that of the row before.
func labelOnce(ctx context.Context, s *session.Session, seq int, last idrl.AnswerID) (idrl.AnswerID, error) {
	if seq%12 == 0 {
		r, err := s.Undo(ctx, "a1", "undo-"+last, last)
		return r.ID, err
	}
	for {
		o, err := s.Claim(ctx, "a1")
		if err != nil {
			return "", err
		}
		if len(o.Open) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		as := o.Open[0]
		a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("answer-", seq)), Assignment: as.ID, Choice: idrl.ChoseA, Left: as.Left, Input: "api"}
		if as.Query.ID[0]%3 == 0 {
			a.Choice = idrl.ChoseB
		}
		r, err := s.Answer(ctx, "a1", a)
		return r.ID, err
	}
}

// chainSpec is a session whose features are random waves.
func chainSpec() idrl.SessionSpec {
	return settings.Complete(idrl.SessionSpec{
		ID: "s", Title: "learnt", Env: "chain", Seed: 11, Kind: idrl.CompareClips, TrainEvery: 3, AdoptAfter: 2, CreatedAt: journaltest.T0,
		Features: chain.New(chain.Config{}).Spec().FeatureNames,
	})
}

// A labelledStudy is what is recorded of a session in the end.
type labelledStudy struct {
	record.Record
	Agents map[string][]byte // states of agents, by name
}

// labelledData returns a data folder with such a session, whose process is killed as soon
// as it acknowledges each of some rows.
func labelledData(t *testing.T, spec idrl.SessionSpec, kills ...int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	db := must.Get(store.Open(t.Context(), dir))(t)
	must.Do(t, db.CreateSession(t.Context(), spec))
	must.Get(db.CreateAnnotator(t.Context(), "s", "Ann"))(t)
	must.Do(t, db.Close())
	for _, kill := range append(slices.Clone(kills), 0) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*loadtest.Wait)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env, cmd.Stderr = append(os.Environ(), featuresEnv+"="+dir), os.Stderr
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if lines.Text() == fmt.Sprint(kill) {
				_ = cmd.Process.Kill()
			}
		}
		if err := cmd.Wait(); kill == 0 && err != nil || ctx.Err() != nil {
			t.Fatalf("labelling until row %d, 0 for the end: %v, %v", kill, err, ctx.Err())
		}
	}
	return dir
}

// labelled returns the record of the session of labelledData.
func labelled(t *testing.T, spec idrl.SessionSpec, kills ...int) labelledStudy {
	t.Helper()
	ro := must.Get(store.OpenReadOnly(t.Context(), labelledData(t, spec, kills...)))(t)
	defer ro.Close()
	rec := must.Get(ro.Load(t.Context(), "s"))(t)
	out := labelledStudy{Record: rec, Agents: map[string][]byte{}}
	for _, name := range []string{"gaits", "agents", "agent 0", "agent 1", "agent 2", "agent 3"} {
		b, err := ro.Agent(t.Context(), "s", name)
		switch {
		case err == nil:
			out.Agents[name] = b
		case idrl.KindOf(err) != idrl.NotFound:
			t.Fatal(err)
		}
	}
	return out
}

// A session whose features are learnt survives SIGKILL, also while it learns, trains and
// adopts: its rows, questions, fits, policies and posteriors are those of one that was
// left alone, bit for bit.
func TestKillUnderLearntFeatures(t *testing.T) {
	t.Parallel()
	want := labelled(t, chainSpec())
	if len(want.Fits) < 3 || len(want.Log) != featuresRows || want.Generation.BasedOn <= want.Fits[1].AdoptedAt {
		t.Fatalf("%d fits, %d rows, a generation from row %d: too few to tell", len(want.Fits), len(want.Log), want.Generation.BasedOn)
	}
	got := labelled(t, chainSpec(), 3, 9, 10, 11, 12, 22, 23, 24, 33, 40, 44)
	if d := cmp.Diff(want, got, journaltest.Same); d != "" {
		t.Errorf("records differ (-left alone +killed):\n%s", d)
	}
}

// networkSpec is a session on a reward network.
func networkSpec() idrl.SessionSpec {
	return settings.Complete(idrl.SessionSpec{
		ID: "s", Title: "network", Env: "driver", Model: idrl.NetworkModel, Seed: 11, TrainEvery: 5, AdoptAfter: 3, CreatedAt: journaltest.T0,
	})
}

// A session on a reward network survives SIGKILL, also while a worker fits the network or
// trains: rows, questions, networks, policies, posteriors and the agents that training
// goes on with are those of a session that was left alone, bit for bit.
func TestKillUnderNetwork(t *testing.T) {
	t.Parallel()
	spec := networkSpec()
	want := labelled(t, spec)
	if len(want.Fits) < 2 || len(want.Log) != networkRows || want.Generation.BasedOn <= want.Fits[1].AdoptedAt || len(want.Agents) < 4 {
		t.Fatalf("%d fits, %d rows, a generation from row %d, %d agents: too few to tell", len(want.Fits), len(want.Log), want.Generation.BasedOn, len(want.Agents))
	}
	got := labelled(t, spec, 2, 10, 11, 18, 21, 26)
	if d := cmp.Diff(want.Record, got.Record, journaltest.Same); d != "" {
		t.Errorf("records differ (-left alone +killed):\n%s", d)
	}
	for name, state := range want.Agents {
		if !bytes.Equal(state, got.Agents[name]) {
			t.Errorf("%s: the kills changed its state", name)
		}
	}
}

// gaitSpec is a session whose policies are found by searches among gaits.
func gaitSpec(env string) idrl.SessionSpec {
	return settings.Complete(idrl.SessionSpec{
		ID: "s", Title: "gaits", Env: env, Solver: idrl.GaitSolver, Seed: 11, TrainEvery: 5, AdoptAfter: 3, CreatedAt: journaltest.T0,
	})
}

// A session whose policies are found by searches that go on from training to training
// survives SIGKILL, also while a worker searches: rows, questions, policies, posteriors and
// the state of the searches are those of a session that was left alone, bit for bit.
func TestKillUnderGaits(t *testing.T) {
	t.Parallel()
	killUnderGaits(t, gaitSpec("driver"), 2, 5, 6, 7, 15, 21, 26)
}

func killUnderGaits(t *testing.T, spec idrl.SessionSpec, kills ...int) {
	t.Helper()
	want := labelled(t, spec)
	if g := want.Generation; len(want.Log) != networkRows || g.BasedOn != 25 || len(want.Archive) != 5 || g.Candidates[0].Mus == nil || len(want.Agents) != 1 {
		t.Fatalf("%d rows, a generation from row %d after %d others, %d states: too few to tell", len(want.Log), g.BasedOn, len(want.Archive), len(want.Agents))
	}
	got := labelled(t, spec, kills...)
	if d := cmp.Diff(want.Record, got.Record, journaltest.Same); d != "" {
		t.Errorf("records differ (-left alone +killed):\n%s", d)
	}
	if !bytes.Equal(want.Agents["gaits"], got.Agents["gaits"]) {
		t.Error("the kills changed the state of the searches")
	}
}
