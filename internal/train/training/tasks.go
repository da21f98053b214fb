package training

import "tiebreak/internal/idrl"

// sameTask limits comparisons to clips of one task, because people cannot compare how well two policies do different tasks.
// of is that of Tasks. pairs returns the pairs that a person can answer; nil: all. If none of these is of one task, all pairs of
// one task are asked about.
func sameTask(of func(c idrl.Candidate, n int) string, pairs func([]idrl.Clip) ([][2]int, error)) func([]idrl.Clip) ([][2]int, error) {
	return func(clips []idrl.Clip) (out [][2]int, err error) {
		task := make([]string, len(clips))
		for i, c := range clips {
			policy, n := c.From.Episode()
			task[i] = of(idrl.Candidate{ID: policy}, n)
		}
		if pairs != nil {
			all, err := pairs(clips)
			if err != nil {
				return nil, err
			}
			for _, p := range all {
				if task[p[0]] == task[p[1]] {
					out = append(out, p)
				}
			}
		}
		if len(out) > 0 {
			return out, nil
		}
		for j := range clips {
			for i := range j {
				if task[i] == task[j] {
					out = append(out, [2]int{i, j})
				}
			}
		}
		return out, nil
	}
}
