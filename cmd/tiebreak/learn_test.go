package main

import (
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"gonum.org/v1/gonum/floats"

	"tiebreak/envs"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// TestLearnsOverSockets lets a simulated expert answer thirty questions of a
// running server and asks whether the car now drives as the expert likes.
func TestLearnsOverSockets(t *testing.T) {
	t.Parallel()
	const seed = 3
	data := t.TempDir()
	db, err := store.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	spec := demoSpec()
	spec.Seed, spec.AdoptAfter = seed, 2 // so that the outcome does not depend on the machine
	if spec, err = newSession(t.Context(), db, envs.Catalogue(), spec); err != nil {
		t.Fatal(err)
	}
	token, err := auth.New(auth.Config{Store: db}).NewInvitation(t.Context(), spec.ID, 1, linkLife)
	if err != nil {
		t.Fatal(err)
	}
	must.Do(t, db.Close())

	p := startServer(t, "serve", "--data", data, "--addr", "127.0.0.1:0")
	status, said, errs := cli(t, "simulate", "--url", p.find(t, `running at (\S+)`)+"/join/"+token,
		"--answers", "30", "--expert", "bradley-terry", "--seed", "3")
	if status != 0 || !strings.Contains(said, "30 answers given") {
		t.Fatalf("simulate: status %d\n%s%s", status, said, errs)
	}
	p.kill()
	if db, err = store.OpenReadOnly(t.Context(), data); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rec, err := db.Load(t.Context(), spec.ID)
	if err != nil {
		t.Fatal(err)
	}
	model, err := training.Model(envs.Catalogue(), rec.Spec)
	if err != nil {
		t.Fatal(err)
	}
	last, err := model.Decode(rec.Snapshots[len(rec.Snapshots)-1].Belief)
	if err != nil {
		t.Fatal(err)
	}

	env, err := training.Environment(envs.Catalogue(), spec)
	if err != nil {
		t.Fatal(err)
	}
	truth := sim.NewTask(env, rng.New(seed, "task", 0)).Theta
	best := trueReturn(t, env, truth, truth)
	before := 0.0 // mean regret of policies for random weights
	const n = 20
	for k := range uint64(n) {
		stream, theta := rng.New(k, "random weights", 0), make([]float64, len(truth))
		for i := range theta {
			theta[i] = stream.NormFloat64()
		}
		before += (best - trueReturn(t, env, theta, truth)) / n
	}
	mean := last.Mean(nil)
	after := best - trueReturn(t, env, mean, truth)
	known := len(truth) - 1 // no comparison can tell the constant
	cosine := floats.Dot(mean[:known], truth[:known]) / floats.Norm(mean[:known], 2) / floats.Norm(truth[:known], 2)
	t.Logf("regret %.3f of policies for random weights, %.4f after 30 answers; cosine %.3f", before, after, cosine)
	if after > before/10 || cosine < 0.8 {
		t.Error("want the regret to fall to a tenth and a cosine of at least 0.8")
	}
}

// trueReturn returns the return under truth of the policy that is optimal for theta.
func trueReturn(t *testing.T, env idrl.Environment, theta, truth []float64) float64 {
	t.Helper()
	s := must.Get(solver.For(env))(t)
	p := must.Get(s.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: theta, Restarts: 30}, rng.New(1, "solve", 0)))(t)
	return floats.Dot(truth, solver.Mu(env, p, rng.New(1, "mu", 0)))
}
