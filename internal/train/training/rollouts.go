package training

import (
	"fmt"
	"math/rand/v2"

	"tiebreak/envs"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/train/trainer"
)

// About how many clips of rollouts that were imported a session asks about. Those of videos take seconds each to be cut.
const (
	shownRollouts = 400
	shownFilmed   = 120
	firstFilmed   = 5  // of those, before the first question
	mostFirst     = 20 // likewise, where there are many tasks
)

// configureRollouts sets t up for policies that acted before: nothing is solved or simulated.
func configureRollouts(t *trainer.Thompson, set *recordings.Set, spec idrl.SessionSpec) {
	policies, mu := set.Policies(), recordings.Policy.Mu
	if spec.Return == idrl.MeanReturn {
		mu = recordings.Policy.PerStep
	}
	t.Solver, t.Given = recordings.Chooser{Set: set, Mu: mu}, policies
	t.Mu = func(_ idrl.Environment, p idrl.Policy, _ *rand.Rand) []float64 {
		return mu(p.(recordings.Policy)) //nolint:forcetypeassert // the solver has no others
	}
	if set.Unseen() {
		t.Encode, t.Pairs, t.Rated = nil, nil, nil
	}
	if tasks, _ := set.Tasks(); tasks > 1 && !set.Unseen() {
		t.Pairs = sameTask(Tasks(set), t.Pairs)
	}
	shown := shownRollouts
	if cameras, _ := set.Filmed(); cameras != nil {
		shown, t.Gradual = shownFilmed, firstClips(spec)
		if tasks, _ := set.Tasks(); spec.Kind.Made().Comparison() {
			t.Gradual = max(t.Gradual, min(tasks+1, mostFirst)) // two at least are of one task
		}
	}
	t.Rollouts = max(1, min(set.Most(), shown/len(policies)))
	t.Segments = max(0, min(8, shown/(len(policies)*t.Rollouts)-1))
}

// firstClips returns how many clips of videos the first generation of a session asks about: few, but enough for a person to be asked until
// the next generation is adopted.
func firstClips(spec idrl.SessionSpec) int {
	n, rows := firstFilmed, int(max(spec.TrainEvery, idrl.DearTrainEvery)+spec.AdoptAfter)
	questions := func(clips int) int {
		if spec.Kind.Made().Comparison() {
			return clips * (clips - 1) / 2
		}
		return clips
	}
	for questions(n) < rows && n < shownFilmed {
		n++
	}
	return n
}

// recorded returns the rollouts that env plays, nil if it is another environment.
func recorded(env idrl.Environment) *recordings.Set {
	if e, ok := env.(interface{ Set() *recordings.Set }); ok {
		return e.Set()
	}
	return nil
}

// CheckShown returns an error of kind Invalid if the environment of spec has no pictures, so that
// no questions can be asked.
func CheckShown(list envs.List, spec idrl.SessionSpec) error {
	set, err := Recorded(list, spec)
	if err == nil && set != nil && set.Unseen() {
		err = idrl.Errorf(idrl.Invalid, "the rollouts of %s were imported with \"shown\": false: they have no pictures, so there can be no questions. Import them with pictures under another --name, or import existing labels ('tiebreak import --labels')", spec.Env)
	}
	return err
}

// Recorded returns the rollouts that a session is about, nil if it is about no environment of
// rollouts.
func Recorded(list envs.List, spec idrl.SessionSpec) (*recordings.Set, error) {
	env, err := Environment(list, spec)
	if err != nil {
		return nil, err
	}
	return recorded(env), nil
}

// Acted returns the policy of the rollouts that a candidate is; ok is false if it is none of them,
// or set is nil.
func Acted(set *recordings.Set, c idrl.Candidate) (p recordings.Policy, ok bool) {
	if set == nil {
		return p, false
	}
	k, ok := trainer.PoolPlace(c.ID)
	if !ok && len(c.Params) == 1 {
		k, ok = int(c.Params[0]), true
	}
	if !ok {
		return p, false
	}
	return set.Policy(k)
}

// Tasks returns what the n-th episode of a policy that acted in set was to do; empty where the rollouts do not say it. It is nil if
// set is.
func Tasks(set *recordings.Set) func(c idrl.Candidate, n int) string {
	if set == nil {
		return nil
	}
	return func(c idrl.Candidate, n int) string {
		if p, ok := Acted(set, c); ok {
			return p.Task(n)
		}
		return ""
	}
}

// Beginnings returns what the n-th episode of a policy that acted in set began from: its task and its start, as one text; empty where the rollouts name no start. It is nil
// if set is.
func Beginnings(set *recordings.Set) func(c idrl.Candidate, n int) string {
	if set == nil {
		return nil
	}
	return func(c idrl.Candidate, n int) string {
		p, ok := Acted(set, c)
		if !ok || p.Start(n) == "" {
			return ""
		}
		return fmt.Sprintf("%q %q", p.Task(n), p.Start(n))
	}
}

// Lengths returns the mean number of (discounted) steps of an episode of a policy that acted in set;
// 1 for others. It is nil if set is.
func Lengths(set *recordings.Set) func(idrl.Candidate) float64 {
	if set == nil {
		return nil
	}
	return func(c idrl.Candidate) float64 {
		if p, ok := Acted(set, c); ok {
			return p.Length()
		}
		return 1
	}
}

// checkRecorded returns an error of kind Invalid if spec asks for what needs a simulator, or
// policies that were named, in an environment of rollouts.
func checkRecorded(env idrl.Environment, spec idrl.SessionSpec) error {
	set := recorded(env)
	if set == nil && spec.Return == idrl.MeanReturn {
		return idrl.Errorf(idrl.Invalid, "the return %q is for rollouts that were imported; other policies are compared by the sum over the episode. Use the return %q", spec.Return, idrl.AutoReturn)
	}
	if set == nil {
		return nil
	}
	if spec.Model == idrl.NetworkModel {
		return idrl.Errorf(idrl.Invalid, "the model %q trains policies in a simulator, and rollouts have none: use the model %q", spec.Model, idrl.FeaturesModel)
	}
	if spec.Solver != idrl.OwnSolver && spec.Solver != idrl.AutoSolver && spec.Solver != "" {
		return idrl.Errorf(idrl.Invalid, "the solver %q trains policies in a simulator, and rollouts have none: use the solver %q", spec.Solver, idrl.OwnSolver)
	}
	method, err := acquisition.Find(spec.Acquisition)
	if err != nil {
		return err
	}
	if !set.Named() && method.Needs.Candidates != acquisition.NoCandidates {
		return idrl.Errorf(idrl.Invalid, "the strategy %q compares policies, but these rollouts do not say which policy acted: name it in \"policy\" of %s and import them again, or use a strategy without candidates, such as igr",
			spec.Acquisition, recordings.ManifestName)
	}
	return nil
}
