package recordings

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/words"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// IDPrefix begins the ids of environments of rollouts.
const IDPrefix = "rollouts-"

// A Set is the rollouts that were imported under one name. It may be used by several goroutines.
type Set struct {
	dir     string
	x       index
	Version string  // of its content: the beginning of a hash
	groups  [][]int // rollouts of each policy
	mus     [][]float64
	lengths []float64 // of an episode of each policy (Policy.Length)

	mu     sync.Mutex      // guards what follows
	opened map[int]*opened // those read last, at most maxOpen
	order  []int
}

// maxOpen is how many rollouts a Set keeps in memory.
const maxOpen = 8

// An opened is a rollout that was read.
type opened struct {
	numbersV1
	reel   *clip.Reel
	scenes []drawing.Scene
}

// Open opens the set that Import kept in a folder. It returns an error of kind Damaged if it is
// not as it was written.
func Open(dir string) (*Set, error) {
	b, err := os.ReadFile(filepath.Join(dir, indexName)) //nolint:gosec // within the data folder
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "the rollouts in %s cannot be read: %v", dir, err)
	}
	s := &Set{dir: dir, opened: map[int]*opened{}}
	if err := json.Unmarshal(b, &s.x); err != nil || s.x.Format != "tiebreak.rollouts.kept" || len(s.x.Rollouts) == 0 {
		return nil, idrl.Errorf(idrl.Damaged, "the rollouts in %s cannot be read: %s is damaged", dir, indexName)
	}
	if s.x.Version != 1 && (s.x.Version != filmedVersion || s.x.Filmed == nil) {
		return nil, idrl.Errorf(idrl.Invalid, "the rollouts in %s are of a newer version: use a newer tiebreak", dir)
	}
	sum := sha256.Sum256(b)
	s.Version = hex.EncodeToString(sum[:6])
	s.groups, s.mus, s.lengths = make([][]int, len(s.x.Policies)), make([][]float64, len(s.x.Policies)), make([]float64, len(s.x.Policies))
	for i, e := range s.x.Rollouts {
		if e.Policy < noPolicy || e.Policy >= len(s.groups) || len(e.Sum) != len(s.x.Features) {
			return nil, idrl.Errorf(idrl.Damaged, "the rollouts in %s cannot be read: %s is damaged", dir, indexName)
		}
		if err := s.x.Filmed.check(e); err != nil {
			return nil, idrl.Errorf(idrl.Damaged, "the rollouts in %s cannot be read: %v", dir, err)
		}
		if e.Policy == noPolicy {
			continue
		}
		s.groups[e.Policy] = append(s.groups[e.Policy], i)
	}
	for k, group := range s.groups {
		s.mus[k] = make([]float64, len(s.x.Features))
		for _, i := range group {
			floats.AddScaled(s.mus[k], 1/float64(len(group)), s.x.Rollouts[i].Sum)
			s.lengths[k] += s.x.discounted(s.x.Rollouts[i].Steps) / float64(len(group))
		}
	}
	return s, nil
}

// discounted returns Σ γᵗ over the steps of an episode: their number where γ is 1.
func (x *index) discounted(steps int) float64 {
	if x.Discount == 1 {
		return float64(steps)
	}
	return (1 - math.Pow(x.Discount, float64(steps))) / (1 - x.Discount)
}

// ID returns the id of the environment.
func (s *Set) ID() string { return IDPrefix + s.x.Name }

// Title and Description say to people what it is.
func (s *Set) Title() string       { return s.x.Title }
func (s *Set) Description() string { return s.x.Description }

// Named reports whether the policies that acted were named; else each rollout counts as a
// policy of its own.
func (s *Set) Named() bool { return s.x.Named }

// Unseen reports whether there is nothing to see of the rollouts, so that nobody can be asked
// about them.
func (s *Set) Unseen() bool { return s.x.Unseen }

// ClipSteps returns the steps of clips that people are asked about.
func (s *Set) ClipSteps() int { return s.x.ClipSteps }

// StepSeconds returns how long a step took.
func (s *Set) StepSeconds() float64 { return s.x.StepSeconds }

// Size returns how many rollouts and policies there are.
func (s *Set) Size() (rollouts, policies int) { return len(s.x.Rollouts), len(s.x.Policies) }

// RewardOf says of what the reward is a weighted sum: "8 numbers of the column vision, as seen by front".
func (s *Set) RewardOf() string {
	n := len(s.x.Features)
	switch {
	case s.x.Column != "":
		seen := ""
		if cameras := s.x.SeenBy; len(cameras) > 0 {
			seen = ", as seen by " + words.List(cameras)
		}
		return fmt.Sprintf("%s of the column %s%s", words.Plural(n, "number"), s.x.Column, seen)
	case s.x.From == fromObservations:
		return words.Plural(n, "observation") + ", standardised"
	case s.x.From == fromPolicies:
		return words.Plural(n, "feature") + ", which policy acted"
	}
	return words.Plural(n, "feature") + " of the rollouts"
}

// load reads a rollout.
func (s *Set) load(i int) (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.opened[i]; o != nil {
		return o, nil
	}
	e := s.x.Rollouts[i]
	o := &opened{}
	var seen seenV1
	err := unpack(s.dir, numbersName(i), e.Numbers, &o.numbersV1)
	if err == nil && e.Seen != "" {
		err = unpack(s.dir, fmt.Sprintf("%d.seen", i), e.Seen, &seen)
	}
	if err == nil && s.x.Scenes {
		o.scenes, err = foreign.ReadScenes(seen.Scenes)
	}
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "rollout %s of %s cannot be read: %v; import the rollouts again under this name", e.Name, s.x.Name, err)
	}
	o.reel = &clip.Reel{W: seen.W, H: seen.H, Kinds: seen.Kinds, Files: seen.Files, Show: seen.Show}
	if len(s.order) == maxOpen {
		delete(s.opened, s.order[0])
		s.order = s.order[1:]
	}
	s.opened[i], s.order = o, append(s.order, i)
	return o, nil
}

// unpack reads a file with that SHA-256 into dst.
func unpack[T any](dir, name, sum string, dst *T) error {
	b, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // within the data folder
	if err != nil {
		return err
	}
	if got := sha256.Sum256(b); hex.EncodeToString(got[:]) != sum {
		return fmt.Errorf("%s is not what was written", name)
	}
	*dst, err = pack.Decode[T](b)
	return err
}

// Policies returns the policies that acted. Params of policy k is the number k.
func (s *Set) Policies() []idrl.Policy {
	out := make([]idrl.Policy, len(s.groups))
	for k := range out {
		out[k] = Policy{s, k}
	}
	return out
}

// Policy returns policy k of Policies; ok is false if there is none.
func (s *Set) Policy(k int) (p Policy, ok bool) {
	return Policy{s, k}, 0 <= k && k < len(s.groups)
}

// Most returns the largest number of rollouts of a policy.
func (s *Set) Most() (n int) {
	for _, g := range s.groups {
		n = max(n, len(g))
	}
	return n
}

// A Policy is one that acted in rollouts; it can do nothing else.
type Policy struct {
	set *Set
	k   int
}

// Act implements idrl.Policy: it is never asked, since Episode acts.
func (p Policy) Act(dst idrl.Action, _ []float64, _ *rand.Rand) idrl.Action {
	clear(dst)
	return dst
}

// Name returns what the manifest calls p, or its only rollout if policies have no names: for
// researchers alone.
func (p Policy) Name() string { return p.set.x.Policies[p.k] }

// Rollouts returns the names of those in which p acted.
func (p Policy) Rollouts() []string {
	out := make([]string, len(p.set.groups[p.k]))
	for i, r := range p.set.groups[p.k] {
		out[i] = p.set.x.Rollouts[r].Name
	}
	return out
}

// Task returns what p was to do in the n-th of its rollouts; empty where that is not known.
func (p Policy) Task(n int) string { return p.rollout(n).Task }

// Start returns from what the n-th rollout of p began (Episode.Start); empty where that is not known.
func (p Policy) Start(n int) string { return p.rollout(n).Start }

// rollout returns the n-th rollout of p; an empty one if there is none.
func (p Policy) rollout(n int) (r entry) {
	if group := p.set.groups[p.k]; 0 <= n && n < len(group) {
		r = p.set.x.Rollouts[group[n]]
	}
	return r
}

// Params implements idrl.Policy.
func (p Policy) Params() []float64 { return []float64{float64(p.k)} }

// Mu returns the mean of the discounted features of all rollouts of p, length d.
func (p Policy) Mu() []float64 { return append([]float64(nil), p.set.mus[p.k]...) }

// Length returns the mean of Σ γᵗ over the rollouts of p: of their numbers of steps where γ is 1.
func (p Policy) Length() float64 { return p.set.lengths[p.k] }

// PerStep returns Mu over Length, the mean features of a step of p, length d.
func (p Policy) PerStep() []float64 {
	mu := p.Mu()
	floats.Scale(1/p.Length(), mu)
	return mu
}

// Episode implements trainer.Recorded.
func (p Policy) Episode(env idrl.Environment, n int) (idrl.Policy, bool) {
	e, ok := env.(interface{ begin(int) *Env })
	if group := p.set.groups[p.k]; ok && n < len(group) {
		return playback{p, e.begin(group[n])}, true
	}
	return nil, false
}

// A playback does what was done in the rollout that its environment plays.
type playback struct {
	Policy
	env *Env
}

// ActAt implements idrl.Timed.
func (p playback) ActAt(dst idrl.Action, _ []float64, t int, _ *rand.Rand) idrl.Action {
	copy(dst, p.env.action(t))
	return dst
}

// A Chooser is a solver: it chooses the policy with the highest return among those that acted.
type Chooser struct {
	Set *Set
	Mu  func(Policy) []float64 // what a return is of, length d: Policy.Mu or Policy.PerStep
}

// Solve implements idrl.Solver.
func (c Chooser) Solve(ctx context.Context, task idrl.SolveTask, _ *rand.Rand) (idrl.Policy, error) {
	var best Policy
	most := math.Inf(-1)
	for k := range c.Set.groups {
		if r := floats.Dot(task.Theta, c.Mu(Policy{c.Set, k})); r > most {
			best, most = Policy{c.Set, k}, r
		}
	}
	return best, ctx.Err()
}

// A File is one of those that a set is kept in.
type File struct {
	Name string
	Hash [sha256.Size]byte
	Size int64
	Read func() ([]byte, error)
}

// Name returns the name under which the set was imported.
func (s *Set) Name() string { return s.x.Name }

// Files returns the files of the set, as they were written, without the videos of other folders and what was cut from them. It reads their lengths, and of their contents only the index.
func (s *Set) Files() ([]File, error) {
	out := make([]File, 0, 1+2*len(s.x.Rollouts))
	add := func(name string, sum []byte) error {
		path := filepath.Join(s.dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return idrl.Errorf(idrl.Damaged, "the rollouts in %s cannot be read: %v", s.dir, err)
		}
		f := File{Name: name, Size: info.Size(), Read: func() ([]byte, error) { return os.ReadFile(path) }} //nolint:gosec // within the data folder
		copy(f.Hash[:], sum)
		out = append(out, f)
		return nil
	}
	b, err := os.ReadFile(filepath.Join(s.dir, indexName)) //nolint:gosec // within the data folder
	if err != nil {
		return nil, idrl.Errorf(idrl.Damaged, "the rollouts in %s cannot be read: %v", s.dir, err)
	}
	sum := sha256.Sum256(b)
	if err := add(indexName, sum[:]); err != nil {
		return nil, err
	}
	for i, e := range s.x.Rollouts {
		for name, text := range map[string]string{numbersName(i): e.Numbers, fmt.Sprintf("%d.seen", i): e.Seen} {
			if text == "" {
				continue
			}
			sum, err := hex.DecodeString(text)
			if err == nil {
				err = add(name, sum)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}
