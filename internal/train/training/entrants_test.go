package training

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tiebreak/envs"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/measure"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/plan/solver"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/jobs/jobstest"
)

// An arenaBench is an arena of policies that are optimal for some rewards.
type arenaBench struct {
	spec    idrl.SessionSpec
	records records
}

func newArenaBench(t *testing.T, env string, n int) *arenaBench {
	t.Helper()
	return newArenaOf(t, env, n, func(k, i int) float64 { return rng.New(uint64(k), "theta", uint64(i)).NormFloat64() })
}

// newArenaOf is newArenaBench where weight i of the reward of entrant k is theta(k, i).
func newArenaOf(t *testing.T, env string, n int, weight func(k, i int) float64) *arenaBench {
	t.Helper()
	spec := idrl.SessionSpec{ID: "arena", Title: "A", Env: env, Seed: 7, Arena: idrl.Arena{Layout: 3}}
	var policies []EntrantPolicy
	for k := range n {
		spec.Arena.Entrants = append(spec.Arena.Entrants, idrl.Entrant{Title: "secret " + string(rune('A'+k)), Session: "s1", Policy: idrl.PolicyID("g0.p" + string(rune('0'+k)))})
	}
	spec = must.Get(Complete(envs.Catalogue(), settings.Complete(spec.AsArena())))(t)
	world := must.Get(Environment(envs.Catalogue(), spec))(t)
	for k := range n {
		theta := make([]float64, world.Spec().FeatureDim())
		for i := range theta {
			theta[i] = weight(k, i)
		}
		s := must.Get(solver.For(world))(t)
		p := must.Get(s.Solve(t.Context(), idrl.SolveTask{Env: world, Theta: theta, Restarts: 1}, rng.New(1, "solve", uint64(k))))(t)
		policies = append(policies, EntrantPolicy{Params: p.Params()})
	}
	content := must.Get(EncodeEntrants(policies))(t)
	return &arenaBench{spec, records{&jobstest.Store{}, map[string][]byte{EntrantsName: content}}}
}

func (b *arenaBench) train(t *testing.T) (idrl.Generation, error) {
	t.Helper()
	model := must.Get(Model(envs.Catalogue(), b.spec))(t)
	if d := model.Prior().Dim(); d != len(b.spec.Arena.Entrants) {
		t.Fatalf("the posterior is about %d weights", d)
	}
	log := slog.New(slog.DiscardHandler)
	h := &Handler{Envs: envs.Catalogue, Log: log}
	remote := &Remote{Jobs: jobstest.Memory{Store: b.records.Store, Handler: h}, Records: b.records, Spec: b.spec, Model: model, Log: log}
	return remote.Train(t.Context(), idrl.TrainJob{Posterior: model.Prior(), Seed: b.spec.Seed, First: true})
}

// Every two entrants meet from every start, in the same part of episodes that begin alike, and
// nothing that annotators get tells who it is.
func TestArenaQuestions(t *testing.T) {
	const n = 3
	b := newArenaBench(t, "gridworld", n)
	g, err := b.train(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Candidates) != n || len(g.Queries) == 0 || len(g.Clips)%n != 0 || len(g.Queries) > len(g.Clips)/n*(n*(n-1)/2) {
		t.Fatalf("%d candidates, %d questions, %d clips", len(g.Candidates), len(g.Queries), len(g.Clips))
	}
	met, first := map[string]int{}, 0
	for _, q := range g.Queries {
		a, c := g.Clips[q.Clips[0]], g.Clips[q.Clips[1]]
		who, start, _ := strings.Cut(string(a.From), ".")
		other, also, _ := strings.Cut(string(c.From), ".")
		if who == other || start != also || a.Raw == "" {
			t.Fatalf("a question about %s and %s", a.From, c.From)
		}
		if who < other {
			first++
		}
		met[min(who, other)+max(who, other)]++
		if a.Start == 0 && c.Start == 0 && !slices.Equal(frame(t, a), frame(t, c)) {
			t.Errorf("%s and %s begin in different states", a.From, c.From)
		}
	}
	if share := float64(first) / float64(len(g.Queries)); len(g.Queries) > 50 && (share < 0.3 || share > 0.7) {
		t.Errorf("the entrant that was named first is clip a in %.0f %% of questions", 100*share)
	}
	if len(met) != n*(n-1)/2 {
		t.Errorf("pairs meet %v", met)
	}
	for k, c := range g.Candidates {
		if c.ID != idrl.EntrantID(k) || !slices.Equal(c.Mu, b.spec.Arena.Indicator(k)) || len(c.Params) == 0 {
			t.Errorf("candidate %d is %s with μ = %v", k, c.ID, c.Mu)
		}
	}
	for id, c := range g.Clips {
		shown := must.Get(clip.Decode(c.Media))(t)
		if len(shown.Header.Phi) == n || !slices.Equal(shown.Header.Phi, c.Phi) {
			t.Errorf("clip %s has features %v, and %v in what is drawn", id, c.Phi, shown.Header.Phi)
		}
		for _, secret := range []string{"secret", "g0.p", string(c.From)} {
			if bytes.Contains(c.Media, []byte(secret)) || strings.Contains(string(id), secret) {
				t.Errorf("clip %s says %q", id, secret)
			}
		}
	}
	again, err := b.train(t)
	if diff := cmp.Diff(g, again); err != nil || diff != "" {
		t.Errorf("the same arena again, %v:\n%.500s", err, diff)
	}
	b.spec.Seed++
	other, err := b.train(t)
	if err != nil {
		t.Fatal(err)
	}
	for id := range other.Clips {
		if _, same := g.Clips[id]; same {
			t.Fatalf("clip %s has the same name in an arena of another seed", id)
		}
	}
}

// frame returns what a clip shows first.
func frame(t *testing.T, c idrl.Clip) []float64 {
	t.Helper()
	shown := must.Get(clip.Decode(c.Media))(t)
	return shown.Frames[0]
}

// Where nothing is random, all starts are the same, and are asked about once.
func TestArenaWithoutChance(t *testing.T) {
	g := must.Get(newArenaBench(t, "driver", 2).train(t))(t)
	if len(g.Queries) < 1 || len(g.Queries) > 2 { // the opening, and a later part of longer episodes
		t.Errorf("%d questions about two policies that always do the same", len(g.Queries))
	}
}

// An arena whose policies are not recorded, or are those of another environment, says so.
func TestArenaRefuses(t *testing.T) {
	b := newArenaBench(t, "gridworld", 2)
	delete(b.records.agents, EntrantsName)
	if _, err := b.train(t); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("without policies: %v", err)
	}
	content := must.Get(EncodeEntrants([]EntrantPolicy{{Params: []float64{1, 2}}, {Params: []float64{3}}}))(t)
	b.records.agents[EntrantsName] = content
	if _, err := b.train(t); err == nil || !strings.Contains(err.Error(), `"secret A"`) {
		t.Errorf("with policies of another environment: %v", err)
	}
}

func TestArenaSpec(t *testing.T) {
	b := newArenaBench(t, "gridworld", 2)
	if err := checked(b.spec); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func(a *idrl.Arena){
		"compares 2 to 20":   func(a *idrl.Arena) { a.Entrants = a.Entrants[:1] },
		"are the same":       func(a *idrl.Arena) { a.Entrants[1].Policy = a.Entrants[0].Policy },
		"title of its own":   func(a *idrl.Arena) { a.Entrants[1].Title = a.Entrants[0].Title },
		"title of entrant 2": func(a *idrl.Arena) { a.Entrants[1].Title = " " },
	} {
		spec := b.spec
		spec.Arena.Entrants = slices.Clone(spec.Arena.Entrants)
		change(&spec.Arena)
		if err := checked(spec); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if diff := cmp.Diff(settings.Complete(b.spec.AsArena()), b.spec, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("AsArena changes an arena:\n%s", diff)
	}
}

// A person with a known reward, whose answers are noisy, is asked as the arena asks, and the strengths
// are in the order of the returns of the policies: of the policy for that reward, of one for
// another, and of one for the opposite.
func TestArenaFindsTheOrder(t *testing.T) {
	theta := func(i int) float64 { return rng.New(5, "truth", uint64(i)).NormFloat64() }
	b := newArenaOf(t, "gridworld", 3, func(k, i int) float64 {
		switch {
		case k == 0:
			return -theta(i)
		case k == 1:
			return theta(i)
		}
		return rng.New(9, "other", uint64(i)).NormFloat64()
	})
	g, err := b.train(t)
	if err != nil {
		t.Fatal(err)
	}
	env, err := Environment(envs.Catalogue(), b.spec)
	if err != nil {
		t.Fatal(err)
	}
	value := func(phi []float64) (sum float64) {
		for i, v := range phi {
			sum += v * theta(i)
		}
		return sum
	}
	returns := make([]float64, 3)
	for k, c := range g.Candidates {
		p := must.Get(solver.FromParams(env, c.Params))(t)
		returns[k] = value(solver.Mu(env, p, rng.New(1, "mu", 0)))
	}
	if !(returns[1] > returns[2] && returns[2] > returns[0]) {
		t.Fatalf("the returns are %v: this test needs another reward", returns)
	}
	var outcomes []bradley.Outcome
	stream := rng.New(2, "person", 0)
	for _, q := range g.Queries {
		x, y := g.Clips[q.Clips[0]], g.Clips[q.Clips[1]]
		a, _ := b.spec.Arena.EntrantOf(x.From)
		c, _ := b.spec.Arena.EntrantOf(y.From)
		o := bradley.Outcome{A: a, B: c, Choice: idrl.ChoseA, Person: "a1"}
		switch d := value(x.Phi) - value(y.Phi) + stream.NormFloat64(); {
		case d < -0.2:
			o.Choice = idrl.ChoseB
		case d < 0.2:
			o.Choice = idrl.Equal
		}
		outcomes = append(outcomes, o)
	}
	r, err := bradley.Analyse(3, outcomes)
	if err != nil || !slices.Equal(r.Order, []int{1, 2, 0}) {
		t.Errorf("returns %v, strengths %+v after %d answers, %v", returns, r.Entrants, r.Answers, err)
	}
}

// Nobody is asked about clips that look alike: of a policy and its copy there are none, of both and
// another policy those that differ; and an arena of copies says what is wrong.
func TestArenaAsksWhatCanBeAnswered(t *testing.T) {
	b := newArenaBench(t, "gridworld", 3)
	enter := func(of ...int) {
		policies, err := pack.Decode[[]EntrantPolicy](b.records.agents[EntrantsName])
		if err != nil {
			t.Fatal(err)
		}
		for k, from := range of {
			policies[k] = policies[from]
		}
		if b.records.agents[EntrantsName], err = EncodeEntrants(policies); err != nil {
			t.Fatal(err)
		}
	}
	enter(0, 1, 0)
	g, err := b.train(t)
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := bradley.NewReport(record.Record{Spec: b.spec, Generation: &g})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, p := range r.Pairs {
		copies := p.A != b.spec.Arena.Entrants[1].Title && p.B != b.spec.Arena.Entrants[1].Title
		if p.Starts != len(g.Clips)/3 || copies != (p.Unasked == p.Starts) {
			t.Errorf("%s and %s: %d of %d starts are left out", p.A, p.B, p.Unasked, p.Starts)
		}
		asked += p.Starts - p.Unasked
	}
	if asked != len(g.Queries) {
		t.Errorf("%d questions, the report says %d", len(g.Queries), asked)
	}
	who := func(c idrl.Clip) string { entrant, _, _ := strings.Cut(string(c.From), "."); return entrant }
	for i, q := range g.Queries {
		a, b := viewOf(g.Clips[q.Clips[0]]), viewOf(g.Clips[q.Clips[1]])
		if ok, err := measure.Answerable(a, b); !ok || err != nil {
			t.Errorf("nobody can answer %s, %v", q.ID, err)
		}
		for _, p := range g.Queries[:i] {
			c, d := g.Clips[p.Clips[0]], g.Clips[p.Clips[1]]
			if who(c) != who(g.Clips[q.Clips[0]]) && who(c) != who(g.Clips[q.Clips[1]]) || who(d) != who(g.Clips[q.Clips[0]]) && who(d) != who(g.Clips[q.Clips[1]]) {
				continue
			}
			if who(c) != who(g.Clips[q.Clips[0]]) {
				c, d = d, c
			}
			if same, err := both(a, viewOf(c), b, viewOf(d)); same || err != nil {
				t.Errorf("%s looks like %s, %v", q.ID, p.ID, err)
			}
		}
	}
	enter(0, 0, 0)
	if _, err = b.train(t); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "people could not distinguish the entrants") {
		t.Errorf("an arena of copies: %v", err)
	}
}

// From a start in which two entrants do what each does in an earlier one nothing is asked again; where
// they do what the other does there, it is: the same answer speaks for the other of them then.
func TestArenaAsksExchangedClips(t *testing.T) {
	g := must.Get(newArenaBench(t, "driver", 2).train(t))(t)
	first, second := g.Clips[g.Queries[0].Clips[0]], g.Clips[g.Queries[0].Clips[1]]
	var ask asked
	for i, test := range []struct {
		clips []idrl.Clip
		want  int
	}{{[]idrl.Clip{first, second}, 1}, {[]idrl.Clip{first, second}, 0}, {[]idrl.Clip{second, first}, 1}, {[]idrl.Clip{second, first}, 0}} {
		if got, err := ask.about(shots{who: []int{0, 1}, clips: test.clips}); err != nil || len(got) != test.want {
			t.Errorf("start %d: %d questions, %v; want %d", i, len(got), err, test.want)
		}
	}
}
