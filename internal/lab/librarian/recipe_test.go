package librarian_test

import (
	"os"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/data/library"
	"tiebreak/internal/lab/librarian"
)

// TestFilesFollowRecipes ties each file that ships to the recipe by which it was made and to
// the model that it was made for: where one of them changes, the file is to be made again.
func TestFilesFollowRecipes(t *testing.T) {
	for _, l := range mujoco.Catalogue() {
		data := must.Get(os.ReadFile("../../../envs/mujoco/library/" + l.ID + ".json"))(t)
		f := must.Get(library.Decode(data))(t)
		key := must.Get(librarian.RecipeFor(l.ID).Key())(t)
		if f.Robot != l.ID || f.Recipe != key {
			t.Errorf("the library of %q was made for %q by the recipe %q, which is %q now: make it again with 'tiebreak-lab library %s --out envs/mujoco/library'",
				l.ID, f.Robot, f.Recipe, key, l.ID)
		}
	}
}

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
		{Wide: 2},
		{Shown: []string{}},
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
		skill(librarian.Given{}), skill(librarian.Given{Gains: "1"}), skill(librarian.Blend{A: "b", B: "c"}), skill(librarian.Blend{A: "b", B: "c", Share: 0.5}),
		{Skills: []librarian.Skill{{Name: "a", Step: true, By: librarian.Held{}}}},
		{Skills: []librarian.Skill{{Name: "a", Falls: true, By: librarian.Held{}}}},
		{Skills: []librarian.Skill{{Name: "a", Theta: map[string]float64{"Effort": 1}, By: librarian.Held{}}}},
	} {
		key := must.Get(r.Key())(t)
		if before, ok := seen[key]; ok {
			t.Errorf("recipes %d and %d have one key", before, k)
		}
		seen[key] = k
	}
	if _, err := skill(librarian.Shipped{Gait: "none"}).Key(); err == nil {
		t.Error("a policy that does not ship has a key")
	}
}
