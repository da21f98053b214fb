//go:build mujoco

package librarian_test

import (
	"slices"
	"testing"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/librarian"
	"tiebreak/internal/picture"
	"tiebreak/internal/rng"
)

// shown is how many behaviours a session shows first.
const shown = 16

// TestLibrariesOfRobots plays what every robot comes with as sessions do: what is shown
// moves, the behaviours differ, and of the pairs of clips that a session may ask about
// people can answer nine in ten.
func TestLibrariesOfRobots(t *testing.T) {
	for _, e := range envs.Catalogue() {
		if e.Library == nil {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			behaviours, err := e.Library()
			if err != nil {
				t.Fatal(err)
			}
			if len(behaviours) < 24 {
				t.Fatalf("%d behaviours, want 24 or more", len(behaviours))
			}
			s := librarian.Stock(func() idrl.Environment { return e.New(rng.New(1, "layout", 0)) })
			var first, all []*picture.View
			moving := 0
			for k, b := range behaviours {
				clips, err := s.Clips(t.Context(), b)
				if err != nil {
					t.Fatal(err)
				}
				views, err := picture.Of(clips)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(views, (*picture.View).Lively) {
					moving++
				}
				if all = append(all, views...); k < shown {
					first = append(first, views...)
				}
			}
			if moving < 24 {
				t.Errorf("%d of %d behaviours are lively, want 24", moving, len(behaviours))
			}
			left, easy := shares(t, first)
			whole, _ := shares(t, all)
			t.Logf("%d behaviours, %d lively; of the pairs of the first %d clips %.0f%% can be answered, %.0f%% easily; of all pairs %.0f%%",
				len(behaviours), moving, len(first), 100*left, 100*easy, 100*whole)
			if left < 0.9 || whole < 0.8 {
				t.Errorf("%.2f of the pairs that are asked first can be answered, and %.2f of all, want 0.9 and 0.8", left, whole)
			}
		})
	}
}

// shares returns the share of the pairs of clips that can be answered, and easily.
func shares(t *testing.T, views []*picture.View) (left, easy float64) {
	t.Helper()
	n := float64(len(views)*(len(views)-1)) / 2
	for j, b := range views {
		for _, a := range views[:j] {
			p, err := picture.Compare(a, b)
			if err != nil {
				t.Fatal(err)
			}
			if p.Answerable() {
				left += 1 / n
				if p.Easy() {
					easy += 1 / n
				}
			}
		}
	}
	return left, easy
}
