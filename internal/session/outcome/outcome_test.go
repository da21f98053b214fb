package outcome_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/chain"
	"tiebreak/envs/driver"
	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/session"
	"tiebreak/internal/session/outcome"
	"tiebreak/internal/study/settings"
)

// source is a session of hand-made features in env that has two candidates, a policy for
// the posterior mean and one more, and recommends another policy.
func source(t *testing.T, env idrl.Environment) outcome.Source {
	t.Helper()
	spec := env.Spec()
	d := spec.FeatureDim()
	solve := func(k uint64) []float64 {
		s := must.Get(solver.For(env))(t)
		theta := make([]float64, d)
		for i := range theta {
			theta[i] = rng.New(k, "theta", uint64(i)).NormFloat64()
		}
		if ars, ok := s.(solver.ARS); ok {
			ars.Iterations = 2
			s = ars
		}
		p := must.Get(s.Solve(t.Context(), idrl.SolveTask{Env: env, Theta: theta, Restarts: 1}, rng.New(k, "solve", 0)))(t)
		return p.Params()
	}
	return outcome.Source{
		Spec: settings.Complete(idrl.SessionSpec{ID: "s", Env: spec.ID, Features: spec.FeatureNames}), Env: env,
		Review: session.Review{
			Seq: 9, BasedOn: 6, Posterior: belief.Isotropic(d, 2), Best: idrl.Candidate{ID: "g3.p1", Origin: idrl.FromSample, Params: solve(3)},
			InUse: []idrl.Candidate{{ID: "g6.p0", Origin: idrl.FromMean, Params: solve(1)}, {ID: "g6.p1", Origin: idrl.FromSample, Params: solve(2)}},
		},
	}
}

func files(t *testing.T, s outcome.Source) map[string][]byte {
	t.Helper()
	list, err := outcome.Files(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := outcome.Files(s)
	if err != nil || !slices.EqualFunc(list, again, func(a, b export.File) bool { return a.Name == b.Name && bytes.Equal(a.Content, b.Content) }) {
		t.Errorf("the same session again makes other files, error %v", err)
	}
	out := map[string][]byte{}
	for _, f := range list {
		out[f.Name] = f.Content
	}
	return out
}

func parse(t *testing.T, b []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
}

// Sessions of hand-made features hand over the weights of these by name, and each kind of
// policy in a form from which its actions follow.
func TestFilesOfFeatures(t *testing.T) {
	s := source(t, driver.New())
	all := files(t, s)
	var index struct {
		Seq, Generation, Network int64
		Reward                   string
		Recommended, Main        string
		Policies                 []struct{ ID, File, Origin string }
	}
	parse(t, all["index.json"], &index)
	if index.Seq != 9 || index.Generation != 6 || index.Network != 0 || index.Recommended != "g3.p1" || index.Main != "g6.p0" ||
		len(index.Policies) != 3 || index.Policies[2].ID != "g3.p1" || index.Policies[2].Origin != "sample" {
		t.Errorf("index: %s", all["index.json"])
	}
	var reward struct {
		Features  []string
		Posterior struct {
			Mean       []float64
			Covariance [][]float64
		}
	}
	parse(t, all[index.Reward], &reward)
	d := len(s.Spec.Features)
	if !slices.Equal(reward.Features, s.Spec.Features) || len(reward.Posterior.Mean) != d || len(reward.Posterior.Covariance) != d || reward.Posterior.Covariance[1][1] != 2 {
		t.Errorf("reward: %s", all[index.Reward])
	}

	var sequence struct {
		Format  string
		Hold    int
		Actions [][]float64
	}
	parse(t, all[index.Policies[0].File], &sequence)
	p := must.Get(solver.FromParams(s.Env, s.Review.InUse[0].Params))(t)
	h := s.Env.Spec().Horizon
	for step := range h {
		obs := make([]float64, s.Env.Spec().ObsDim)
		obs[len(obs)-1] = float64(step) / float64(h)
		want := p.Act(make(idrl.Action, s.Env.Spec().Actions.Dim()), obs, nil)
		if got := sequence.Actions[min(step/sequence.Hold, len(sequence.Actions)-1)]; sequence.Format != "tiebreak.policy-sequence" || !slices.Equal(got, want) {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}

	s = source(t, chain.New(chain.Config{}))
	var table struct {
		Format  string
		Actions []float64
	}
	parse(t, files(t, s)["policy-g6.p1.json"], &table)
	if table.Format != "tiebreak.policy-table" || !slices.Equal(table.Actions, s.Review.InUse[1].Params) {
		t.Errorf("table %+v, want the actions %v", table, s.Review.InUse[1].Params)
	}

	all = files(t, source(t, pointmass.New(pointmass.Config{})))
	if !bytes.Contains(all["policy-g6.p0.json"], []byte("tiebreak.policy-network")) || len(all["policy-g6.p0.safetensors"]) == 0 {
		t.Errorf("linear policy: %s", all["policy-g6.p0.json"])
	}
}

// The file of a gait gives the actions that the gait takes, with feedback and without. The
// other classes of policies in a session of gaits have files, too.
func TestFilesOfGaits(t *testing.T) {
	s := source(t, pointmass.New(pointmass.Config{}))
	s.Spec.Solver = idrl.GaitSolver
	spec := s.Env.Spec()
	stream := rng.New(1, "gaits", 0)
	open := must.Get(solver.RandomGait(spec, stream))(t)
	fed := append(slices.Clone(open), 1) // observation 1
	for range spec.Actions.Dim() {
		fed = append(fed, 0.7)
	}
	fed = append(fed, 0.2, 1.5) // its mean and standard deviation
	s.Review.InUse[0].Params = behaviour.Gait.Params(open)
	s.Review.InUse[1].Params = behaviour.Gait.Params(fed)
	s.Review.Best.Params = behaviour.Linear.Params(s.Review.Best.Params)
	all := files(t, s)
	for k, c := range s.Review.InUse {
		p := must.Get(behaviour.New(spec, c.Params))(t)
		var w struct {
			Format                            string
			Omega                             float64
			Constant, Sine, Cosine, Low, High []float64
			Observations                      []int
			Gain                              [][]float64
		}
		parse(t, all["policy-"+string(c.ID)+".json"], &w)
		if w.Format != "tiebreak.policy-gait" || len(w.Observations) != k {
			t.Fatalf("policy %s: %+v", c.ID, w)
		}
		for step := range 50 {
			obs := make([]float64, spec.ObsDim)
			for i := range obs {
				obs[i] = stream.NormFloat64()
			}
			want := p.ActAt(make(idrl.Action, spec.Actions.Dim()), obs, step, nil)
			for j, v := range want {
				got := w.Constant[j] + w.Sine[j]*math.Sin(w.Omega*float64(step)) + w.Cosine[j]*math.Cos(w.Omega*float64(step))
				for i, o := range w.Observations {
					got += w.Gain[j][i] * obs[o]
				}
				if got = min(max(got, w.Low[j]), w.High[j]); math.Abs(got-v) > 1e-12 {
					t.Errorf("policy %s, step %d: %v, want %v", c.ID, step, got, v)
				}
			}
		}
	}
	if !bytes.Contains(all["policy-g3.p1.json"], []byte("tiebreak.policy-network")) {
		t.Errorf("linear policy: %s", all["policy-g3.p1.json"])
	}
}

func TestFilesThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct {
		change func(s *outcome.Source)
		kind   idrl.Kind
		says   string
	}{
		"no generation": {func(s *outcome.Source) { s.Review = session.Review{Seq: 1, BasedOn: -1} }, idrl.NotFound, "no policies yet"},
		"no network":    {func(s *outcome.Source) { s.Spec.Model = idrl.NetworkModel }, idrl.NotFound, "from 10 answers"},
		"a network that cannot be read": {func(s *outcome.Source) {
			s.Review.Impaired = idrl.Errorf(idrl.Damaged, "features of version 3 are damaged")
		}, idrl.Damaged, "version 3"},
		"other features": {func(s *outcome.Source) { s.Review.Features = foreign{} }, idrl.Invalid, "no network"},
		"a policy that is cut": {func(s *outcome.Source) {
			s.Review.InUse[1].Params = s.Review.InUse[1].Params[1:]
		}, idrl.Damaged, "policy g6.p1"},
		"a policy of another environment": {func(s *outcome.Source) {
			s.Review.Best.Params = []float64{1, 0, 100, 1, 2, 3}
		}, idrl.Damaged, "policy g3.p1"},
		"a policy that is no number": {func(s *outcome.Source) {
			s.Review.InUse[0].Params = slices.Clone(s.Review.InUse[0].Params)
			s.Review.InUse[0].Params[0] = math.NaN()
		}, idrl.Damaged, "policy g6.p0"},
	} {
		s := source(t, pointmass.New(pointmass.Config{}))
		test.change(&s)
		if _, err := outcome.Files(s); idrl.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error = %v, want one of kind %d that says %q", name, err, test.kind, test.says)
		}
	}
}

// Policies that acted in rollouts are handed over by name, also those of the pool.
func TestFilesOfRollouts(t *testing.T) {
	s := source(t, driver.New())
	s.Review.Best = idrl.Candidate{ID: "pool.p1", Origin: idrl.FromGiven}
	s.Acted = func(c idrl.Candidate) (string, []string, bool) {
		if c.ID == "g6.p1" {
			return "", nil, false
		}
		return "the " + string(c.ID), []string{"r1", "r7"}, true
	}
	all := files(t, s)
	for _, id := range []string{"g6.p0", "pool.p1"} {
		want := `{"format":"tiebreak.policy-rollouts","version":1,"name":"the ` + id + `","rollouts":["r1","r7"]}`
		if got := string(all["policy-"+id+".json"]); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if got := all["policy-g6.p1.json"]; !bytes.Contains(got, []byte("policy-sequence")) {
		t.Errorf("a policy that acted in none: %s", got)
	}
	if len(all) != 5 || !bytes.Contains(all["index.json"], []byte(`"recommended": "pool.p1"`)) {
		t.Errorf("%d files, index %s", len(all), all["index.json"])
	}
}

// foreign are features of another kind than networks.
type foreign struct{}

func (foreign) Version() int64                                 { return 1 }
func (foreign) Dim() int                                       { return 1 }
func (foreign) Features(dst []float64, _ idrl.Steps) []float64 { return dst }

// The parameters of policies of the pool are not kept: such a recommendation has no file.
func TestRecommendationFromThePool(t *testing.T) {
	s := source(t, driver.New())
	s.Review.Best = idrl.Candidate{ID: "pool.p2", Origin: idrl.FromPrior}
	all := files(t, s)
	if !bytes.Contains(all["index.json"], []byte(`"recommended": "pool.p2"`)) || len(all) != 4 {
		t.Errorf("%d files, index %s", len(all), all["index.json"])
	}
}
