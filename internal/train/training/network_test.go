package training

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs/jobstest"

	"github.com/google/go-cmp/cmp"

	"gonum.org/v1/gonum/floats"
)

// records are those of a server: jobs, and agents as the last generation left them.
type records struct {
	*jobstest.Store
	agents map[string][]byte
}

// Agent implements Records.
func (r records) Agent(_ context.Context, _ idrl.SessionID, name string) ([]byte, error) {
	b := r.agents[name]
	switch {
	case b == nil:
		return nil, idrl.Errorf(idrl.NotFound, "no agent %q", name)
	case len(b) == 0:
		return nil, idrl.Errorf(idrl.Damaged, "agent %q is damaged", name)
	}
	return b, nil
}

// adopt keeps the agents of a generation.
func (r records) adopt(g idrl.Generation) {
	for name, b := range g.Agents {
		r.agents[name] = b
	}
}

// networkSpec is a session in Driver with a reward network.
func networkSpec() idrl.SessionSpec {
	return settings.Complete(idrl.SessionSpec{ID: "net", Title: "Net", Env: "driver", Model: idrl.NetworkModel, Seed: 3})
}

// A networkBench is a server and a worker of such a session.
type networkBench struct {
	records
	remote *Remote
	fitter Fitter
	log    bytes.Buffer
}

func newNetworkBench(t *testing.T) *networkBench { return newAgentBench(t, networkSpec()) }

// newAgentBench is a networkBench of any session whose policies are trained by agents.
func newAgentBench(t *testing.T, spec idrl.SessionSpec) *networkBench {
	t.Helper()
	m := must.Get(Model(envs.Catalogue(), spec))(t)
	l := must.Get(Learner(envs.Catalogue(), spec))(t)
	b := &networkBench{records: records{&jobstest.Store{}, map[string][]byte{}}}
	log := slog.New(slog.NewTextHandler(&b.log, nil))
	memory := jobstest.Memory{Store: b.Store, Handler: &Handler{Envs: envs.Catalogue, Log: log, Steps: 700}}
	b.remote = &Remote{Jobs: memory, Records: b.records, Spec: spec, Model: m, Log: log}
	b.fitter = Fitter{FeatureLearner: l, Jobs: memory, Spec: spec}
	return b
}

// generation trains from row n under features, and adopts the generation.
func (b *networkBench) generation(t *testing.T, n int64, rep idrl.Representation, p idrl.Posterior) idrl.Generation {
	t.Helper()
	g, err := b.remote.Train(t.Context(), idrl.TrainJob{BasedOn: n, Posterior: p, Features: rep, Seed: b.remote.Spec.Seed, First: n == 0})
	if err != nil {
		t.Fatalf("train from %d: %v\n%s", n, err, b.log.String())
	}
	b.adopt(g)
	return g
}

// answers returns n answers to questions of a generation.
func answers(t *testing.T, g idrl.Generation, n int) (d idrl.Dataset) {
	t.Helper()
	for i, q := range g.Queries[:n] {
		var shown []idrl.Steps
		for _, id := range q.Clips {
			c := g.Clips[id]
			s := must.Get(steps.Decode(c.Raw, g.Steps[c.Raw]))(t)
			shown = append(shown, s.Cut(c.Start, c.Steps))
		}
		a := idrl.Answer{ID: idrl.AnswerID(fmt.Sprint(i)), Seq: int64(i) + 1, Query: q.ID, Choice: idrl.ChoseA}
		if i%3 == 0 {
			a.Choice = idrl.ChoseB
		}
		d.Queries, d.Answers, d.Shown = append(d.Queries, q), append(d.Answers, a), append(d.Shown, shown)
	}
	return d
}

// fitted returns the posterior of m after the answers of d, by the features of rep.
func fitted(t *testing.T, rep idrl.Representation, m idrl.RewardModel, d idrl.Dataset) idrl.Posterior {
	t.Helper()
	var vectors []idrl.QueryVector
	for i, q := range d.Queries {
		x := rep.Features(make([]float64, rep.Dim()), d.Shown[i][0])
		floats.Sub(x, rep.Features(make([]float64, rep.Dim()), d.Shown[i][1]))
		vectors = append(vectors, idrl.QueryVector{Query: q, X: x})
	}
	p, _, err := m.Fit(t.Context(), m.Prior(), vectors, d.Answers)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Annotators are told apart by the posterior under the network that a snapshot is about; by none if
// the network is not recorded.
func TestMannersUnderANetwork(t *testing.T) {
	b := newNetworkBench(t)
	d := answers(t, b.generation(t, 0, nil, b.remote.Model.Prior()), 12)
	for i := range d.Answers {
		d.Answers[i].Annotator = [...]idrl.AnnotatorID{"ann", "bob", "eve"}[i%3]
	}
	content, err := b.fitter.FeatureLearner.Learn(t.Context(), d, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	rep, m, err := b.fitter.Open(1, content)
	if err != nil {
		t.Fatal(err)
	}
	belief, err := m.Encode(fitted(t, rep, m, d))
	if err != nil {
		t.Fatal(err)
	}
	r := record.Record{
		Spec: b.remote.Spec, Fits: []record.LearntFit{{Version: 1, Content: content}},
		Snapshots: []record.Snapshot{{Definition: record.PosteriorDefinition, Representation: 1, Belief: belief}},
	}
	who, err := Manners(envs.Catalogue(), r)
	if err != nil || len(who) != 3 || who[1].Annotator != "bob" || !(who[1].Random > 0 && who[1].Random < 1) {
		t.Errorf("annotators %+v, error %v", who, err)
	}
	r.Fits = nil
	if who, err := Manners(envs.Catalogue(), r); who != nil || err != nil {
		t.Errorf("without the network: annotators %+v, error %v", who, err)
	}
}

// list returns what is kept of all agents.
func (b *networkBench) list(t *testing.T) agentList {
	t.Helper()
	l := must.Get(pack.Decode[agentList](b.agents[agentListName]))(t)
	return l
}

// A worker learns the bytes that the learner itself learns.
func TestFitInAWorker(t *testing.T) {
	b := newNetworkBench(t)
	d := answers(t, b.generation(t, 0, nil, b.remote.Model.Prior()), 12)
	got := must.Get(b.fitter.Learn(t.Context(), d, 2, 77))(t)
	want := must.Get(b.fitter.FeatureLearner.Learn(t.Context(), d, 2, 77))(t)
	if !bytes.Equal(got, want) {
		t.Error("a worker learns another network than the server would")
	}
	if _, err := b.fitter.Learn(t.Context(), idrl.Dataset{}, 1, 1); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("from no answers: error = %v, want one of kind Invalid", err)
	}
}

// Of more answers than a payload holds, the newest are learnt from, and each clip is
// handed over once.
func TestFitOfManyAnswers(t *testing.T) {
	row := make([]float32, 1<<18)
	clip := idrl.Steps{Obs: [][]float32{row, row}, Actions: [][]float32{row[:1]}, Phi: [][]float64{{1}}}
	var d idrl.Dataset
	for i := range 20 {
		d.Queries = append(d.Queries, idrl.Query{Kind: idrl.CompareClips, Clips: []idrl.ClipID{"same", idrl.ClipID(fmt.Sprint(i))}})
		d.Answers, d.Shown = append(d.Answers, idrl.Answer{Seq: int64(i) + 1}), append(d.Shown, []idrl.Steps{clip, clip})
	}
	r := newFitRequest(networkSpec(), d, 1, 1)
	if len(r.Answers) != 5 || len(r.Clips) != 6 || r.BasedOn != 20 || r.Answers[0].Seq != 16 {
		t.Errorf("%d answers with %d clips up to row %d; want the last 5 with 6 clips up to row 20", len(r.Answers), len(r.Clips), r.BasedOn)
	}
	back, err := r.dataset()
	if err != nil || len(back.Shown) != 5 || back.Shown[4][1].Phi != nil {
		t.Errorf("%d answers come back: %v", len(back.Shown), err)
	}
	r.Shown[2][1] = 6
	if _, err := r.dataset(); err == nil {
		t.Error("a clip that is missing is no error")
	}
}

// Under a reward network the main policy and one candidate are trained in each job; they
// go on where the last job left them, and the generations are the same in another worker.
// An agent whose state is damaged begins anew.
func TestAgentsGoOn(t *testing.T) {
	play := func(t *testing.T, damage func(b *networkBench)) (*networkBench, []idrl.Generation) {
		b := newNetworkBench(t)
		first := b.generation(t, 0, nil, b.remote.Model.Prior())
		d := answers(t, first, 12)
		content, err := b.fitter.FeatureLearner.Learn(t.Context(), d, 1, 7)
		if err != nil {
			t.Fatal(err)
		}
		rep, m, err := b.fitter.Open(1, content)
		if err != nil {
			t.Fatal(err)
		}
		p := fitted(t, rep, m, d)
		out := []idrl.Generation{first}
		for n := int64(12); n < 16; n++ {
			if damage != nil {
				damage(b)
			}
			out = append(out, b.generation(t, n, rep, p))
		}
		return b, out
	}
	b, all := play(t, nil)
	for i, g := range all[1:] {
		if want := min(i+2, 4); len(g.Candidates) != want || g.Candidates[0].Origin != idrl.FromMean || len(g.Candidates[0].Theta) != 64 || len(g.Queries) < 30 {
			t.Errorf("generation %d: %d candidates of %d weights, the first is %s, %d questions; want %d candidates",
				g.BasedOn, len(g.Candidates), len(g.Candidates[0].Theta), g.Candidates[0].Origin, len(g.Queries), want)
		}
	}
	l := b.list(t)
	var taken []int
	for _, a := range l.Agents {
		taken = append(taken, a.Steps)
	}
	if want := []int{2800, 1400, 700, 700}; !slices.Equal(taken, want) || l.Turn != 1 {
		t.Errorf("the agents took %v steps, want %v; the last candidate is %d, want 1", taken, want, l.Turn)
	}
	last := all[len(all)-1].Candidates
	if slices.Equal(last[0].Params, all[1].Candidates[0].Params) || !slices.Equal(last[3].Params, all[3].Candidates[3].Params) {
		t.Error("the main policy must change from job to job, and a candidate whose turn it is not must stay")
	}
	_, again := play(t, nil)
	if diff := cmp.Diff(all, again); diff != "" {
		t.Errorf("the same session again:\n%s", diff)
	}
	for name, damage := range map[string]func(b *networkBench){
		"Damaged":    func(b *networkBench) { b.damageOnce(agentName(0), []byte{}) },
		"Unreadable": func(b *networkBench) { b.damageOnce(agentName(0), []byte("no checkpoint")) },
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := play(t, damage)
			if main := b.list(t).Agents[0]; main.Restarts != 1 || main.Steps != 1400 || !strings.Contains(b.log.String(), "begins anew") {
				t.Errorf("%d restarts and %d steps, want 1 and those of two jobs; the log says %s", main.Restarts, main.Steps, b.log.String())
			}
		})
	}
}

// Under hand-made features agents are trained for the weights of those, by the session's
// wish, from the second generation on, and go on likewise.
func TestAgentsUnderFeatures(t *testing.T) {
	spec := networkSpec()
	spec.Model, spec.Solver = idrl.FeaturesModel, idrl.ActorCritic
	b := newAgentBench(t, spec)
	p := b.remote.Model.Prior()
	if first := b.generation(t, 0, nil, p); len(first.Agents) != 0 || len(first.Candidates) < 5 {
		t.Errorf("the first generation has %d agents and %d candidates, want none and those of any session", len(first.Agents), len(first.Candidates))
	}
	for n := int64(3); n < 6; n++ {
		g := b.generation(t, n, nil, p)
		if want := int(n) - 1; len(g.Candidates) != want || len(g.Candidates[0].Theta) != p.Dim() || len(g.Candidates[0].Mu) != p.Dim() || len(g.Queries) < 30 {
			t.Errorf("generation %d: %d candidates of %d weights, %d questions; want %d of %d", n, len(g.Candidates), len(g.Candidates[0].Theta), len(g.Queries), want, p.Dim())
		}
	}
	if l := b.list(t); len(l.Agents) != 4 || l.Agents[0].Steps != 2100 || l.Agents[3].Steps != 700 {
		t.Errorf("%d agents, the main policy took %d steps; want 4, and 2100", len(l.Agents), l.Agents[0].Steps)
	}
}

// damageOnce spoils what is kept under a name after two jobs.
func (b *networkBench) damageOnce(name string, with []byte) {
	if l, err := pack.Decode[agentList](b.agents[agentListName]); err == nil && l.Agents[0].Steps == 1400 && l.Turn == 2 {
		b.agents[name] = with
	}
}

func TestModelsThatCannotBe(t *testing.T) {
	for _, test := range []struct {
		name string
		spec idrl.SessionSpec
		says string
	}{
		{"table of states", idrl.SessionSpec{Env: "gridworld", Model: idrl.NetworkModel}, "continuous actions"},
		{"ratings", idrl.SessionSpec{Env: "driver", Kind: idrl.RateClip, Model: idrl.NetworkModel}, "comparisons of clips"},
		{"states", idrl.SessionSpec{Env: "driver", Kind: idrl.CompareStates, Model: idrl.NetworkModel}, "comparisons of clips"},
		{"a rule to stop", idrl.SessionSpec{Env: "driver", Model: idrl.NetworkModel, StopByItself: true}, "state no regret"},
		{"a tolerance", idrl.SessionSpec{Env: "driver", Model: idrl.NetworkModel, Tolerance: 0.1}, "state no regret"},
		{"a doubt", idrl.SessionSpec{Env: "driver", Model: idrl.NetworkModel, Doubt: 0.2}, "state no regret"},
		{"a rule for features", idrl.SessionSpec{Env: "driver", StopByItself: true, Doubt: 0.2}, ""},
		{"unknown", idrl.SessionSpec{Env: "driver", Model: "tree"}, "known: features, network"},
		{"network", idrl.SessionSpec{Env: "driver", Model: idrl.NetworkModel}, ""},
		{"table of states by agents", idrl.SessionSpec{Env: "gridworld", Solver: idrl.ActorCritic}, "discrete"},
		{"table of states by gaits", idrl.SessionSpec{Env: "gridworld", Solver: idrl.GaitSolver}, "discrete"},
		{"gaits", idrl.SessionSpec{Env: "driver", Kind: idrl.RateClip, Solver: idrl.GaitSolver}, ""},
		{"unknown solver", idrl.SessionSpec{Env: "driver", Solver: "luck"}, "known: auto, own, sac, gaits"},
		{"agents", idrl.SessionSpec{Env: "driver", Kind: idrl.RateClip, Solver: idrl.ActorCritic}, ""},
	} {
		test.spec.Title = "T"
		err := checked(settings.Complete(test.spec))
		if test.says == "" && err != nil || test.says != "" && (idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: error = %v, want %q", test.name, err, test.says)
		}
	}
}

// The size of a checkpoint is bounded, whatever the environment.
func TestLiveReplay(t *testing.T) {
	for _, test := range []struct{ obs, act, rows int }{{17, 6, 50_000}, {105, 8, 13_647}} {
		spec := idrl.EnvSpec{ObsDim: test.obs, Horizon: 1000, Actions: idrl.ActionSpec{Low: make([]float64, test.act), High: slices.Repeat([]float64{1}, test.act)}}
		s := liveSettings(spec, false)
		if s.Replay != test.rows || s.ReplayBytes(spec) > liveReplayBytes {
			t.Errorf("%d observations: %d rows with %d bytes, want %d and at most %d", test.obs, s.Replay, s.ReplayBytes(spec), test.rows, liveReplayBytes)
		}
	}
}

// checked checks a spec as a session that is made does.
func checked(spec idrl.SessionSpec) error {
	if err := settings.Check(spec); err != nil {
		return err
	}
	return CheckSpec(envs.Catalogue(), spec)
}
