package deep

import (
	"tiebreak/internal/base/pack"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/plan/sac"
)

// A state is all that the rest of a run depends on, between two batches.
type state struct {
	Batch     int // that was the last
	Main      []byte
	Warm      [][]byte
	Visits    [][]idrl.Steps // of each candidate
	Seen      []idrl.Steps
	Model     []byte
	Queries   []idrl.Query
	Answers   []idrl.Answer
	Shown     [][]idrl.Steps
	Predicted []prediction
	Points    []Point
	AllSteps  int
	Rolled    int
}

// A prediction is the probability of the first clip, and whether the second was chosen.
type prediction struct {
	P      float64
	Second bool
}

// checkpoint returns the state of the run after batch i.
func (r *run) checkpoint(i int) ([]byte, error) {
	s := state{
		Batch: i, Seen: r.seen, Queries: r.data.Queries, Answers: r.data.Answers, Shown: r.data.Shown,
		Predicted: r.predicted, Points: r.out.Points, AllSteps: r.out.AllSteps, Rolled: r.out.Rolled,
	}
	var err error
	if s.Model, err = r.model.Encode(); err != nil {
		return nil, err
	}
	if s.Main, err = r.main.Checkpoint(); err != nil {
		return nil, err
	}
	for _, c := range r.warm {
		b, err := c.agent.Checkpoint()
		if err != nil {
			return nil, err
		}
		s.Warm, s.Visits = append(s.Warm, b), append(s.Visits, c.visits)
	}
	return pack.Encode(&s)
}

// resume brings a new run to a state that a run of the same configuration returned, and
// returns the batch that was the last. It returns an error of kind Damaged, and the run is
// of no use, if b is no such state.
func (r *run) resume(b []byte) (batch int, err error) {
	damaged := func(err error) error {
		return idrl.Errorf(idrl.Damaged, "the checkpoint of a run cannot be used: %v", err)
	}
	s, err := pack.Decode[state](b)
	if err != nil {
		return 0, damaged(err)
	}
	if len(s.Warm) != len(r.warm) || len(s.Visits) != len(r.warm) || s.Batch < 0 || len(s.Points) != s.Batch+1 {
		return 0, damaged(idrl.Errorf(idrl.Damaged, "it is of another run"))
	}
	if r.model, err = neural.Decode(r.network(), s.Model); err != nil {
		return 0, damaged(err)
	}
	if r.main, err = r.thaw("main", 0, reward(r.model, nil), s.Main); err != nil {
		return 0, damaged(err)
	}
	for k := range r.warm {
		// A candidate's reward is set before it takes its next step.
		if r.warm[k].agent, err = r.thaw("candidate", k, nothing, s.Warm[k]); err != nil {
			return 0, damaged(err)
		}
		r.warm[k].visits = s.Visits[k]
	}
	r.seen, r.data = s.Seen, idrl.Dataset{Queries: s.Queries, Answers: s.Answers, Shown: s.Shown}
	r.predicted, r.out = s.Predicted, Run{Points: s.Points, AllSteps: s.AllSteps, Rolled: s.Rolled}
	return s.Batch, nil
}

// thaw returns an agent as it was.
func (r *run) thaw(role string, k int, reward sac.Reward, b []byte) (*sac.Agent, error) {
	return sac.Resume(r.agentConfig(role, k, reward), b)
}
