package recordings

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"tiebreak/internal/data/foreign"
)

// standard decides where features come from, and returns how observations are standardised, if
// features are made of them.
func (k *keeping) standard(ctx context.Context) (*standard, error) {
	if k.m.From == fromArrays {
		return nil, nil
	}
	var s standard
	for _, g := range k.m.Rollouts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := k.observe(g, &s); err != nil {
			return nil, err
		}
		if err := k.renew(); err != nil {
			return nil, err
		}
	}
	return k.decide(&s)
}

// decide decides where features come from, by the observations of all rollouts. It returns s if they are made of those.
func (k *keeping) decide(s *standard) (*standard, error) {
	kept := s.finish()
	switch {
	case k.x.From == fromPolicies || k.x.From == "" && kept == 0 && k.x.Named:
		if k.x.From = fromPolicies; !k.x.Named || len(k.x.Policies) > foreign.MaxFeatures {
			return nil, refused("features", `"features_from": "policies" needs 2 to %d policies that are named; there are %d`, foreign.MaxFeatures, len(k.x.Policies))
		}
		for i := range k.x.Policies { // annotators may see names of features
			k.x.Features = append(k.x.Features, fmt.Sprintf("Policy %d", i+1))
		}
		return nil, nil
	case kept == 0:
		return nil, refused("features", "there are no features for a reward: give features.npy and name its columns in \"features\"; or observations of at most %d numbers that change; or name the policies that acted, in \"policy\"", maxDefault)
	}
	k.x.From = fromObservations
	for _, i := range s.columns {
		name := fmt.Sprintf("Observation %d", i)
		if s.names != nil {
			name = s.names[i]
		}
		k.x.Features = append(k.x.Features, name)
	}
	return s, nil
}

// renew changes the folder that is made, into which nothing is written yet (removeKilled).
func (k *keeping) renew() error { return os.Chtimes(k.dir, time.Time{}, time.Now()) }

// observe adds the observations of a rollout to s.
func (k *keeping) observe(g given, s *standard) error {
	a, err := k.arrays(g.Name)
	if err != nil {
		return err
	}
	defer a.close()
	var rows [][]float64
	if err := a.rows("observations", &rows); err != nil {
		return err
	}
	return s.observe(g.Name, rows)
}

// A standard is the means and standard deviations of observations.
type standard struct {
	spread           // of each number, over all steps
	wide    bool     // there are none, or too many numbers in one
	columns []int    // that change
	names   []string // of all columns; nil: they have none
}

func (s *standard) observe(name string, rows [][]float64) error {
	if rows == nil || len(rows[0]) > maxDefault {
		s.wide = true
		return nil
	}
	if s.mean != nil && len(rows[0]) != len(s.mean) {
		return refused("array", "%s: an observation has %d numbers; those of the first rollout have %d", name, len(rows[0]), len(s.mean))
	}
	for _, row := range rows[1:] {
		s.add(row)
	}
	return nil
}

// finish returns how many columns change.
func (s *standard) finish() int {
	if s.wide {
		return 0
	}
	for i, mean := range s.mean {
		if s.std(i) > 1e-9*(1+math.Abs(mean)) {
			s.columns = append(s.columns, i)
		}
	}
	return len(s.columns)
}

// features gives r features where it has none, and notes their sums.
func (k *keeping) features(r *recording, policy int, s *standard) error {
	n := len(r.acts)
	switch {
	case s != nil:
		r.phi = zeros(n, len(s.columns))
		for t := range r.phi {
			for j, i := range s.columns {
				r.phi[t][j] = (r.obs[t+1][i] - s.mean[i]) / s.std(i)
			}
		}
	case k.x.From == fromPolicies:
		r.phi = zeros(n, len(k.x.Policies))
		for t := range r.phi {
			r.phi[t][policy] = 1
		}
	}
	long := min(n, k.m.ClipSteps)
	for start := 0; start+long <= n; start += long {
		sum := make([]float64, len(r.phi[0]))
		for _, row := range r.phi[start : start+long] {
			for j, x := range row {
				sum[j] += x
			}
		}
		k.sums.add(sum)
	}
	return nil
}
