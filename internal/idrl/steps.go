package idrl

// Steps are the raw steps of a trajectory: what the agent observed and did. Features
// can be computed from them again when the representation of the reward changes, and
// other programs can learn from them. They hold no reward.
type Steps struct {
	Env     string // the session's SessionSpec.Env: the environment, and the version of a model of one's own
	Version int    // EnvSpec.Version
	Seed    uint64 // of the session
	Episode uint64 // rng.New(Seed, "rollout", Episode) is the stream of the episode

	Obs     [][]float32 // (T+1)×EnvSpec.ObsDim; row 0 is before the first action
	Actions [][]float32 // T×ActionSpec.Dim()
	Phi     [][]float64 // T×d, the features of the environment, exactly
	End     StepKind    // Terminated or Truncated
}

// Len returns the number of steps, T.
func (s *Steps) Len() int { return len(s.Actions) }

// Cut returns the n steps of s from step start on. They share their memory with s.
func (s *Steps) Cut(start, n int) Steps {
	out := *s
	out.Obs, out.Actions, out.Phi = s.Obs[start:start+n+1], s.Actions[start:start+n], s.Phi[start:start+n]
	return out
}
