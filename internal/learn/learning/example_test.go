package learning_test

import (
	"fmt"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/learning"
)

// The loop of Algorithm 1 with two known policies: choose a question, observe the
// answer, recommend a policy. The true reward is θ = (-1, 2), so that "right" is optimal.
func Example() {
	method, err := acquisition.Find("idrl")
	if err != nil {
		fmt.Println(err)
		return
	}
	questions := []idrl.QueryVector{
		{Query: idrl.Query{ID: "feature 1 alone", Kind: idrl.CompareClips}, X: []float64{1, 0}},
		{Query: idrl.Query{ID: "both features", Kind: idrl.CompareClips}, X: []float64{1, 1}},
		{Query: idrl.Query{ID: "1 against 2", Kind: idrl.CompareClips}, X: []float64{1, -1}},
	}
	learner := learning.New(learning.Config{
		Model:    belief.Model{Start: belief.Isotropic(2, 1), Comparison: belief.Probit{NoiseStd: 0.5, TieBand: 0.1}},
		Method:   method,
		Schedule: learning.Exact(),
		Queries:  questions,
	})
	learner.Adopt(nil, []idrl.Candidate{
		{ID: "left", Origin: idrl.FromSample, Mu: []float64{3, 0}},
		{ID: "right", Origin: idrl.FromSample, Mu: []float64{0, 3}},
	})
	fmt.Println("recommended before the first answer:", learner.Recommend().ID)
	choice, err := learner.Choose(learning.Question{}, rng.New(1, "choice", 0))
	if err != nil {
		fmt.Println(err)
		return
	}
	q := questions[choice.Query]
	fmt.Printf("asked: %s, about %s and %s\n", q.ID, choice.FirstID, choice.SecondID)
	if err := learner.Observe(q, idrl.Answer{Choice: idrl.ChoseB}); err != nil { // θ·x = -3
		fmt.Println(err)
		return
	}
	fmt.Println("recommended after it:", learner.Recommend().ID)
	// Output:
	// recommended before the first answer: left
	// asked: 1 against 2, about left and right
	// recommended after it: right
}
