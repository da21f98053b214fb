package authors

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
)

// ChainInstance is the Chain of one seed.
type ChainInstance struct {
	Rewards    []float64 // of entering each of the 20 states, in [0, 1]
	BestReturn float64   // discounted (γ = 0.99), of the best of the 1,024 policies, from a uniform start
}

// GridworldInstance is the Gridworld of one seed. State x + 10y is column x of
// row y.
type GridworldInstance struct {
	Tiles            [100]int    // type of each state's tile, 0 for the floor, 1 to 10 for objects
	Walls            [][2]int    // pairs of neighbouring states, the smaller first, that a wall parts
	Start            int         // state
	Rewards          []float64   // of entering each state, in [0, 1]
	CandidateActions [][]float64 // of each of the 20 policies in each state: 0 left, 1 right, 2 up, 3 down, 4 stay
	CandidateReturns []float64   // discounted (γ = 0.99), from Start, to six digits
	BestReturn       float64     // of the best candidate
	LPReturn         float64     // of the optimal policy, by linear programming
}

// DriverInstance is the Driver of one seed.
type DriverInstance struct {
	Weights          []float64 // of the five features, the constant last
	EvaluationReturn float64   // of 50 steps, of the policy that stands for the optimal one
}

// instances is instances.json. Seeds are keys, as text.
type instances struct {
	Chain map[string]struct {
		Rewards    []float64 `json:"rewards"`
		BestReturn float64   `json:"best_return"`
	} `json:"chain"`
	Gridworld map[string]struct {
		Tiles            [10][10]int `json:"tiles_row_major_yx"`
		Walls            [][2]int    `json:"walls"`
		Start            int         `json:"initial_state"`
		Rewards          []float64   `json:"rewards_normalised"`
		CandidateActions []string    `json:"candidate_actions"` // one digit a state
		CandidateReturns []float64   `json:"candidate_returns"`
		BestReturn       float64     `json:"best_candidate_return"`
		LPReturn         float64     `json:"lp_optimal_return"`
	} `json:"gridworld"`
	Driver map[string]struct {
		Weights          []float64 `json:"reward_w"`
		EvaluationReturn float64   `json:"evaluation_return_idrl"` // the same for every method
	} `json:"driver"`
}

var parsedInstances = sync.OnceValue(func() (in instances) {
	must(0, json.Unmarshal(must(files.ReadFile("instances.json")), &in))
	return in
})

func key(seed uint64) string { return strconv.FormatUint(seed, 10) }

// Chain returns the instance of a seed, and whether it is one of 1 to 30.
func Chain(seed uint64) (ChainInstance, bool) {
	in, ok := parsedInstances().Chain[key(seed)]
	return ChainInstance(in), ok
}

// Gridworld returns the instance of a seed, and whether it is one of 1 to 30.
func Gridworld(seed uint64) (GridworldInstance, bool) {
	in, ok := parsedInstances().Gridworld[key(seed)]
	if !ok {
		return GridworldInstance{}, false
	}
	out := GridworldInstance{
		Walls: in.Walls, Start: in.Start, Rewards: in.Rewards,
		CandidateReturns: in.CandidateReturns, BestReturn: in.BestReturn, LPReturn: in.LPReturn,
	}
	for y, row := range in.Tiles {
		copy(out.Tiles[10*y:], row[:])
	}
	for _, digits := range in.CandidateActions {
		out.CandidateActions = append(out.CandidateActions, must(actions(digits)))
	}
	return out, true
}

// actions returns the number that each digit stands for.
func actions(digits string) ([]float64, error) {
	out := make([]float64, len(digits))
	for i, c := range []byte(digits) {
		if c < '0' || c > '4' {
			return nil, fmt.Errorf("action %q of state %d", c, i)
		}
		out[i] = float64(c - '0')
	}
	return out, nil
}

// Driver returns the instance of a seed, and whether it is one of 1 to 30.
func Driver(seed uint64) (DriverInstance, bool) {
	in, ok := parsedInstances().Driver[key(seed)]
	return DriverInstance(in), ok
}
