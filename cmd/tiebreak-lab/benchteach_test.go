package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/experiment/teaching"
)

// A lesson that is kept is used where it was given and recorded as it is asked for, with film
// strips if they are asked for; else it is given again, which fails without an environment.
func TestKeptLessons(t *testing.T) {
	t.Parallel()
	l := teaching.Lesson{Env: "hopper", Taste: "forward", Seed: 1, Answers: 25}
	points := func(answers ...int) (out []teaching.Point) {
		for _, n := range answers {
			out = append(out, teaching.Point{Answers: n})
		}
		return out
	}
	ten, none := 10, 0
	every10 := keptLesson{Lesson: l, Every: &ten, Points: points(10, 20, 25)}
	earlier := keptLesson{Lesson: l, Points: points(10, 20, 25)}
	atEnd := keptLesson{Lesson: l, Points: points(25)}
	drawn := []string{"hopper-forward-1.png", "hopper-forward-1-before.gif", "hopper-forward-1-after.gif"}
	for _, test := range []struct {
		name  string
		kept  keptLesson
		every int
		strip bool
		files []string // in the folder of film strips
		used  bool
	}{
		{"the same", every10, 10, false, nil, true},
		{"another --every", every10, 5, false, nil, false},
		{"--every 0 of another", every10, 0, false, nil, false},
		{"--every 0", keptLesson{Lesson: l, Every: &none, Points: points(25)}, 0, false, nil, true},
		{"of an earlier version", earlier, 10, false, nil, true},
		{"of an earlier version with another --every", earlier, 5, false, nil, false},
		{"of an earlier version with a larger --every", earlier, 20, false, nil, false},
		{"of an earlier version with --every 0", earlier, 0, false, nil, false},
		{"of an earlier version, at the end alone", atEnd, 0, false, nil, true},
		{"of an earlier version, with --every that is not reached", atEnd, 30, false, nil, true},
		{"of an earlier version, with --every that is", atEnd, 10, false, nil, false},
		{"with strips", every10, 10, true, drawn, true},
		{"without strips", every10, 10, true, nil, false},
		{"without a film", every10, 10, true, drawn[:2], false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := teachFlags{out: t.TempDir(), every: test.every}
			if test.strip {
				f.strips = t.TempDir()
			}
			b, err := json.Marshal(test.kept)
			if err != nil {
				t.Fatal(err)
			}
			must.Do(t, os.WriteFile(filepath.Join(f.out, "hopper-forward-1.json"), b, 0o600))
			for _, name := range test.files {
				must.Do(t, os.WriteFile(filepath.Join(f.strips, name), nil, 0o600))
			}
			got, err := f.lesson(t.Context(), l, teaching.Options{Every: f.every})
			if (err == nil) != test.used || test.used && len(got.Points) != len(test.kept.Points) {
				t.Errorf("%d points, error %v; want the kept lesson: %v", len(got.Points), err, test.used)
			}
		})
	}
}
