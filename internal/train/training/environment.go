package training

import (
	"tiebreak/envs"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/rollouts"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/posterior"
	"tiebreak/internal/plan/solver"
)

// Environment returns the environment of a session. Equal specs give equal
// environments, layout included.
func Environment(list envs.List, spec idrl.SessionSpec) (idrl.Environment, error) {
	if spec.Uploads() {
		return rollouts.Environment(spec), nil
	}
	e, err := list.Find(spec.Env)
	if err != nil {
		return nil, err
	}
	return asCreated(e.New(rng.New(spec.LayoutSeed(), "layout", 0)), spec), nil
}

// asCreated returns env with clips as a session has had them since it was created.
func asCreated(env idrl.Environment, spec idrl.SessionSpec) idrl.Environment {
	form := spec.Clip
	if form.Steps == 0 {
		form = env.Spec().EarlierClip
	}
	if r, ok := env.(Reclipper); ok && form.Steps > 0 {
		r.Reclip(form.Steps, form.Playback)
	}
	return env
}

// Quick reports whether the trainings of a session need few seconds, before there was one:
// nothing is searched for where dynamics are known exactly or policies are recorded.
func Quick(list envs.List, spec idrl.SessionSpec) (bool, error) {
	env, err := Environment(list, spec)
	if err != nil {
		return false, err
	}
	_, tabular := env.(idrl.Tabular)
	_, smooth := env.(idrl.Differentiable)
	return tabular || smooth || recorded(env) != nil, nil
}

// Model returns the reward model of a session: of the weights of the features of its
// environment; in an arena, of the strengths of the entrants.
func Model(list envs.List, spec idrl.SessionSpec) (idrl.RewardModel, error) {
	env, err := Environment(list, spec)
	if err != nil {
		return nil, err
	}
	if spec.IsArena() {
		env = entered{env, spec.Arena}
	}
	m, err := belief.ForSpec(spec, env)
	if err != nil || spec.Noise != idrl.OwnNoise {
		return m, err
	}
	if own, ok := m.Own(spec.Kind); ok {
		return own, nil
	}
	return m, nil
}

// Averaged returns what statements of regret are drawn by in sessions whose questions
// are of a kind: a model that averages over the noise of answers, where there is one.
func Averaged(kind idrl.QueryKind) func(idrl.RewardModel) idrl.Filter {
	return func(m idrl.RewardModel) idrl.Filter {
		switch m := m.(type) {
		case belief.Own:
			return m.Always()
		case belief.Model:
			if average, ok := m.Averaged(kind); ok {
				return average
			}
		}
		return nil
	}
}

// Rival returns what misfit.New needs of m, the model of a session whose questions are of a kind: m with more
// weights, and averaged over the noise of each annotator. It is nil where there is none: for questions that do
// not compare two clips, and models without such an average.
func Rival(m idrl.RewardModel, kind idrl.QueryKind) func(stds []float64) posterior.Personal {
	of, ok := m.(belief.Model)
	if own, is := m.(belief.Own); is {
		of, ok = own.Of(), true
	}
	if !ok || !kind.Comparison() {
		return nil
	}
	if _, ok := of.Own(kind); !ok {
		return nil
	}
	return func(stds []float64) posterior.Personal {
		own, _ := of.Beside(stds).Own(kind)
		return own.Always()
	}
}

// NameFeatures returns spec with the names of its features, which sessions of
// earlier versions lack.
func NameFeatures(list envs.List, spec idrl.SessionSpec) (idrl.SessionSpec, error) {
	if spec.Features != nil {
		return spec, nil
	}
	env, err := Environment(list, spec)
	if err == nil {
		spec.Features = env.Spec().FeatureNames
	}
	return spec, err
}

// Complete returns spec, of a session that is being created, with what it keeps of its
// environment: the names of the features, the scales of their prior, the form of clips, and the
// solver of its policies if that is left to the program.
func Complete(list envs.List, spec idrl.SessionSpec) (idrl.SessionSpec, error) {
	if spec.Uploads() { // it says itself what it is about
		spec.Solver, spec.Return = idrl.OwnSolver, returnFor(spec, false)
		return spec, nil
	}
	e, err := list.Find(spec.Env)
	if err != nil {
		return spec, err
	}
	made := e.New(rng.New(spec.LayoutSeed(), "layout", 0))
	env := made.Spec()
	spec.Return = returnFor(spec, recorded(made) != nil)
	spec.Features, spec.PriorScale = env.FeatureNames, env.PriorScale
	if spec.IsArena() { // whose weights are no features
		spec.PriorScale = nil
	}
	spec.Clip = idrl.ClipForm{Steps: env.ClipSteps, Playback: env.Playback}
	if spec.Solver == "" || spec.Solver == idrl.AutoSolver {
		spec.Solver = solverFor(e, env, spec)
	}
	return spec, nil
}

// Exact reports whether a session's policies are the best there are for the weights that they are
// solved for: it has the exact solver of finite environments, under hand-made features.
func Exact(env idrl.Environment, spec idrl.SessionSpec) bool {
	_, tabular := env.(idrl.Tabular)
	return tabular && spec.Solver == idrl.OwnSolver && spec.Model == idrl.FeaturesModel
}

// returnFor returns the return by which policies of spec are compared. Answers about parts of
// rollouts tell what a step is worth, and not what a longer episode is: hence the mean.
func returnFor(spec idrl.SessionSpec, imported bool) string {
	switch {
	case spec.Return != "" && spec.Return != idrl.AutoReturn:
		return spec.Return
	case imported:
		return idrl.MeanReturn
	}
	return idrl.SumReturn
}

// solverFor returns the solver that suits a session: gaits for robots whose reward is one
// of features, and that are shown in clips.
func solverFor(e envs.Entry, env idrl.EnvSpec, spec idrl.SessionSpec) string {
	robot := e.LibraryKey != nil && solver.CheckGaits(env) == nil
	if robot && spec.Model != idrl.NetworkModel && !spec.Kind.Still() {
		return idrl.GaitSolver
	}
	return idrl.OwnSolver
}

// CheckSpec returns an error of kind Invalid if no session can be made of spec.
func CheckSpec(list envs.List, spec idrl.SessionSpec) error {
	env, err := Environment(list, spec)
	if err != nil {
		return err
	}
	if err := checkRecorded(env, spec); err != nil {
		return err
	}
	if _, err := acquisition.ForSession(spec); err != nil {
		return err
	}
	if _, err := acquisition.Controls(spec); err != nil {
		return err
	}
	if _, err := Learner(list, spec); err != nil {
		return err
	}
	if err := checkSolver(list, spec); err != nil {
		return err
	}
	_, err = Model(list, spec)
	return err
}

// checkSolver returns an error of kind Invalid if the solver that spec asks for cannot
// train in its environment.
func checkSolver(list envs.List, spec idrl.SessionSpec) error {
	if spec.Solver == idrl.OwnSolver || spec.Solver == idrl.AutoSolver {
		return nil
	}
	env, err := Environment(list, spec)
	if err != nil {
		return err
	}
	s := env.Spec()
	if s.Actions.Num > 0 {
		return idrl.Errorf(idrl.Invalid, "the solver %q trains policies with continuous actions; those of %q are discrete. Use the solver %q",
			spec.Solver, s.ID, idrl.OwnSolver)
	}
	if spec.ByGaits() {
		if err := solver.CheckGaits(s); err != nil {
			return idrl.Errorf(idrl.Invalid, "the solver %q does not fit: %v. Use the solver %q", spec.Solver, err, idrl.OwnSolver)
		}
	}
	return nil
}

// Manners returns how the annotators of a recorded session answer, by the posterior after its
// last log row; nil where that does not tell annotators apart, or is not recorded as this
// program computes it: a server that loads the session then computes it with the next answer.
func Manners(list envs.List, r record.Record) ([]idrl.Manner, error) {
	n := len(r.Snapshots)
	if r.Spec.Noise != idrl.OwnNoise || n == 0 {
		return nil, nil
	}
	last := r.Snapshots[n-1]
	m, err := modelUnder(list, r, last.Representation)
	if err != nil {
		return nil, err
	}
	if own, ok := m.(belief.Own); ok && last.Definition == record.PosteriorDefinition {
		p, err := own.Decode(last.Belief)
		if err != nil {
			return nil, err
		}
		return own.Manners(p), nil
	}
	return nil, nil
}

// modelUnder returns the reward model of a recorded session under features of a version; nil if they
// are not recorded.
func modelUnder(list envs.List, r record.Record, version int64) (idrl.RewardModel, error) {
	if version == 0 {
		return Model(list, r.Spec)
	}
	l, err := Learner(list, r.Spec)
	if err != nil || l == nil || version > int64(len(r.Fits)) || r.Fits[version-1].Content == nil {
		return nil, err
	}
	_, m, err := l.Open(version, r.Fits[version-1].Content)
	return m, err
}
