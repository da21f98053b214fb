package foreign

import (
	"fmt"
	"math"
	"slices"

	"tiebreak/internal/idrl"
)

// An Episode is the numbers of T steps. Where an array may be missing it is nil.
type Episode struct {
	Obs     [][]float64 // T+1 rows, the first before the first action
	Actions [][]float64 // T rows
	Phi     [][]float64 // T rows: features of each step
}

// Steps returns T, by the first array that is there, or by frames, the steps that pictures are of, if that
// is not negative. It returns an error if the others are of other lengths, or T is not 1 to most.
func (e Episode) Steps(frames, most int) (n int, err error) {
	by := ""
	for _, a := range []struct {
		name string
		n    int
		ok   bool
	}{{"actions", len(e.Actions), e.Actions != nil}, {"features", len(e.Phi), e.Phi != nil}, {"observations", len(e.Obs) - 1, e.Obs != nil}, {"pictures", frames, frames >= 0}} {
		switch {
		case !a.ok:
		case by == "":
			n, by = a.n, a.name
		case a.n != n && a.name != "pictures":
			return n, fmt.Errorf("the %s are of %d steps, the %s of %d: for T steps there are T actions, T rows of features and T + 1 observations", by, n, a.name, a.n)
		}
	}
	if n < 1 || n > most {
		return n, fmt.Errorf("it has %d steps; it must have 1 to %d", n, most)
	}
	return n, nil
}

// Check returns an error unless all rows of an array have equally many numbers, as many as there may be, and
// those of features that many; and all numbers are finite.
func (e Episode) Check(features int) error {
	for _, a := range []struct {
		name        string
		rows        [][]float64
		least, most int
	}{{"observations", e.Obs, 1, MaxObservation}, {"actions", e.Actions, 1, MaxAction}, {"features", e.Phi, features, features}} {
		if err := checkRows(a.name, a.rows, a.least, a.most); err != nil {
			return err
		}
	}
	return nil
}

func checkRows(name string, rows [][]float64, least, most int) error {
	for i, row := range rows {
		switch {
		case len(row) < least || len(row) > most:
			return fmt.Errorf("row %d of %s has %d numbers; it must have %s", i, name, len(row), span(least, most))
		case len(row) != len(rows[0]):
			return fmt.Errorf("row %d of %s has %d numbers, and row 0 has %d", i, name, len(row), len(rows[0]))
		case !Finite(row):
			return fmt.Errorf("row %d of %s has a number that is too large", i, name)
		}
	}
	return nil
}

func span(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// Finite reports whether all numbers are finite, also in single precision.
func Finite(v []float64) bool { return FirstLarge(v) < 0 }

// FirstLarge returns the place of the first number that is not finite in single precision, -1 if all are.
func FirstLarge(v []float64) int {
	return slices.IndexFunc(v, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat32) })
}

// Trajectory returns e as a trajectory of an environment, whose states are state followed by the number of the frame.
func (e Episode) Trajectory(env string, terminated bool, state ...float64) *idrl.Trajectory {
	out := &idrl.Trajectory{Env: env, Obs: e.Obs, Phi: e.Phi, End: idrl.Truncated}
	if terminated {
		out.End = idrl.Terminated
	}
	for _, a := range e.Actions {
		out.Actions = append(out.Actions, a)
	}
	for k := range len(e.Actions) + 1 {
		out.Snapshots = append(out.Snapshots, append(state[:len(state):len(state)], float64(k)))
	}
	return out
}
