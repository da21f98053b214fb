package librarian_test

import (
	"testing"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/librarian"
)

// TestRecipeKey: each part of a recipe changes its key.
func TestRecipeKey(t *testing.T) {
	skill := func(by librarian.Way) librarian.Recipe {
		return librarian.Recipe{Skills: []librarian.Skill{{Name: "a", By: by}}}
	}
	seen := map[string]int{}
	for k, r := range []librarian.Recipe{
		{},
		{Count: 1},
		{Gaits: 1},
		{Mutants: 1},
		{Falls: true},
		{Ends: []string{}},
		{Ends: []string{"Effort"}},
		{Alive: map[string]float64{"Upright": 1}},
		{Alive: map[string]float64{"Upright": 2}},
		skill(librarian.Held{}), skill(librarian.Held{Shares: "1"}), skill(librarian.Linear{Iterations: 1}), skill(librarian.Linear{Iterations: 1, Seed: 1}),
		skill(librarian.Network{Steps: 1}), skill(librarian.Network{Steps: 1, Seed: 2}), skill(librarian.Network{Steps: 1, From: "b"}),
		skill(librarian.Gait{Generations: 1}), skill(librarian.Feedback{From: "b"}), skill(librarian.Feedback{From: "b", Sight: librarian.Observations{1, 2}}),
		skill(librarian.Turned{From: "b", Quarters: 1}), skill(librarian.Shipped{Gait: mujoco.AntForward}), skill(librarian.Shipped{Gait: mujoco.AntExplorer}),
		{Skills: []librarian.Skill{{Name: "b", By: librarian.Held{}}}},
		{Skills: []librarian.Skill{{Name: "a", Falls: true, By: librarian.Held{}}}},
		{Skills: []librarian.Skill{{Name: "a", Theta: map[string]float64{"Effort": 1}, By: librarian.Held{}}}},
	} {
		key, err := r.Key()
		if err != nil {
			t.Fatal(err)
		}
		if before, ok := seen[key]; ok {
			t.Errorf("recipes %d and %d have one key", before, k)
		}
		seen[key] = k
	}
	if _, err := skill(librarian.Shipped{Gait: "none"}).Key(); err == nil {
		t.Error("a policy that does not ship has a key")
	}
}
