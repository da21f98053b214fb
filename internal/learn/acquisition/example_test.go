package acquisition_test

import (
	"fmt"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
)

// Three policies that differ in feature 1 alone, and three questions. The one about
// feature 2 tells most about the reward, and nothing about which policy is best; IDRL
// asks the one about feature 1 that shows most of it.
func Example() {
	model := belief.Model{
		Start:      belief.Isotropic(2, 1),
		Comparison: belief.Probit{NoiseStd: 0.5, TieBand: 0.1},
	}
	questions := []idrl.QueryVector{
		{Query: idrl.Query{ID: "feature 2", Kind: idrl.CompareClips}, X: []float64{0, 5}},
		{Query: idrl.Query{ID: "feature 1, faint", Kind: idrl.CompareClips}, X: []float64{0.1, 0}},
		{Query: idrl.Query{ID: "feature 1", Kind: idrl.CompareClips}, X: []float64{2, 0}},
	}
	table := acquisition.NewTable(model, model.Prior(), questions)
	table.SetPolicies([]idrl.Candidate{
		{ID: "stays", Mu: []float64{0, 1}},
		{ID: "walks", Mu: []float64{1, 1}},
		{ID: "runs", Mu: []float64{4, 1}},
	})
	for _, name := range []string{"igr", "idrl"} {
		method, err := acquisition.Find(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		s, err := acquisition.Select(method.New(false), &acquisition.Input{Table: table, Candidates: 3})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s asks about %s", name, questions[s.Query].ID)
		if s.First >= 0 {
			policies := table.Policies()
			fmt.Printf(", which tells %s and %s apart: %.2f nats", policies[s.First].ID, policies[s.Second].ID, s.Info)
		}
		fmt.Println()
	}
	// Output:
	// igr asks about feature 2
	// idrl asks about feature 1, which tells stays and runs apart: 0.49 nats
}
