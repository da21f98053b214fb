package librarian

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
)

// A Recipe says how the library of a robot is made. The zero Recipe suits a robot of which
// nothing is known.
type Recipe struct {
	Count   int                // behaviours; default 32
	Gaits   int                // of them found by novelty, from which is chosen; default 60
	Mutants int                // of what was found that are tried; default 0
	Wide    float64            // factor by which mutations of networks and linear policies are larger; default 1
	Alive   map[string]float64 // by features, weights that are added in searches for the end of a feature
	Skills  []Skill            // that nothing else finds
	Ends    []string           // features whose ends are searched for among gaits; nil for all
	Shown   []string           // features whose ends are shown; nil for all
	Falls   bool               // those searches end episodes at a fall, and what falls in a whole episode is at no end
}

// version changes when the builder would make another library by the same recipe.
const version = 1

// Key names what the library of a robot depends on besides the robot: the recipe, the
// policies that it takes from elsewhere, and the version of the builder.
func (r Recipe) Key() (string, error) {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d %d %v %q %t\n", r.Count, r.Gaits, r.Mutants, r.Alive, r.Ends, r.Falls)
	fmt.Fprintf(h, "%d %d %v %t %t %q\n", version, seed, cmp.Or(r.Wide, 1), r.Ends == nil, r.Shown == nil, r.Shown)
	for _, s := range r.Skills {
		fmt.Fprintf(h, "%q %v %t %t %T %+v\n", s.Name, s.Theta, s.Falls, s.Step, s.By, s.By)
		if shipped, ok := s.By.(Shipped); ok {
			gait, err := mujoco.FindGait(shipped.Gait)
			if err != nil {
				return "", err
			}
			fmt.Fprintln(h, gait.Key())
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// seed is that of every library.
const seed = 1

func stream(purpose string, n uint64) *rand.Rand { return rng.New(seed, "library "+purpose, n) }
