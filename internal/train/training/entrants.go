package training

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/plan/behaviour"
	"tiebreak/internal/train/jobs"
	"tiebreak/internal/train/trainer"
)

// EntrantsName is the name under which the policies of an arena are kept until its clips are
// made (idrl.Generation.Agents).
const EntrantsName = "entrants"

// An EntrantPolicy is the policy of an entrant as it is recorded.
type EntrantPolicy struct {
	Params []float64 // as recorded in the session that trained it
	Gaits  bool      // that session has idrl.GaitSolver
}

// EncodeEntrants returns the policies of the entrants of an arena as one value.
func EncodeEntrants(policies []EntrantPolicy) ([]byte, error) { return pack.Encode(&policies) }

// entered is an environment in which the weights are strengths of entrants.
type entered struct {
	idrl.Environment
	arena idrl.Arena
}

// Spec implements idrl.Environment.
func (e entered) Spec() idrl.EnvSpec {
	s := e.Environment.Spec()
	s.FeatureNames, s.PriorScale = e.arena.Titles(), nil
	return s
}

// The sizes of an arena: questions about all pairs, and clips of all entrants.
const (
	arenaQuestions = 4000
	arenaClips     = 400
	arenaStarts    = 100
)

// startsOf returns the number of starts from which every one of n entrants is shown.
func startsOf(n int) int {
	pairs := n * (n - 1) / 2
	return min(arenaStarts, arenaClips/n, arenaQuestions/pairs)
}

// An arenaShow makes the only generation of an arena.
type arenaShow struct {
	spec     idrl.SessionSpec
	env      idrl.Environment
	policies []idrl.Policy
	to       jobs.Reporter
	filmed   bool // clips are cut from videos, which takes seconds each
	total    int  // episodes, or clips of recorded ones
	done     int  // of these, those under way or made
	known    int  // of these, whose clips were cut before: nothing is said of them
}

// shots are clips between which people choose: one each of some entrants, of the same part of their episodes.
type shots struct {
	who   []int // entrants, increasing
	clips []idrl.Clip
	raw   []idrl.StepsID      // names of the raw steps of each
	kept  [][]byte            // these raw steps
	print string              // of what is seen
	asks  func(i, j int) bool // whether questions are about two entrants; nil: about all
}

// arena hands over the clips of the entrants of an arena and the questions about them: of every two,
// from each start, the clips of the same part of their episodes, which begin in the same
// state with the same random numbers; of recorded policies, those of encounters. Starts after which an entrant does all the same again
// are left out, as where nothing is random, and so are questions that nobody can answer, about
// clips that look alike or in which nothing moves, and those in which each of the two does what it
// does in one from another start.
func (h *Handler) arena(ctx context.Context, t sessionTrainer, req request, to jobs.Reporter) (idrl.Generation, error) {
	policies, err := pack.Decode[[]EntrantPolicy](req.Agents[EntrantsName])
	if err != nil {
		return idrl.Generation{}, idrl.Errorf(idrl.Invalid, "the policies of arena %s cannot be read: %v", req.Spec.ID, err)
	}
	if len(policies) != len(req.Spec.Arena.Entrants) {
		return idrl.Generation{}, idrl.Errorf(idrl.Damaged, "arena %s has %d policies for %d entrants", req.Spec.ID, len(policies), len(req.Spec.Arena.Entrants))
	}
	a := arenaShow{spec: req.Spec, env: t.NewEnv(), to: to}
	if req.Spec.Arena.Recorded() {
		return a.recorded(ctx, req, policies)
	}
	for k, p := range policies {
		policy, err := behaviour.Recorded(a.env, p.Gaits, p.Params)
		if err != nil {
			return idrl.Generation{}, fmt.Errorf("policy of entrant %q: %w", req.Spec.Arena.Entrants[k].Title, err)
		}
		a.policies = append(a.policies, policy)
	}
	m := made{shoot: a.from}
	return a.generation(ctx, req.BasedOn, &m, startsOf(len(policies)))
}

// shuffle puts the questions, and the clips of each, in a random order, so that places say
// nothing of the entrants. part tells questions from others that are shuffled apart.
func (a *arenaShow) shuffle(queries []idrl.Query, part uint64) {
	stream := rng.New(a.spec.Seed, "arena order", part)
	for _, q := range queries {
		if stream.IntN(2) == 1 {
			slices.Reverse(q.Clips)
		}
	}
	stream.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
}

// from returns a clip of every entrant from a start. There are none if the simulation breaks down under an entrant. Every
// other start shows the opening, the rest a later part, the same of all entrants; the end of an
// episode that is over by then. Where two entrants or more are still in that part, it is the
// opening again.
func (a *arenaShow) from(ctx context.Context, start int) (s shots, err error) {
	var episodes []*idrl.Trajectory
	for k, p := range a.policies {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		a.total = len(a.policies) * startsOf(len(a.policies))
		a.progress()
		t, err := a.episode(k, start, p)
		if err != nil || t == nil {
			return shots{}, err
		}
		content, err := a.record(t, start)
		if err != nil {
			return s, err
		}
		episodes, s.raw, s.kept, s.who = append(episodes, t), append(s.raw, t.Raw), append(s.kept, content), append(s.who, k)
	}
	share := 0.0
	if start%2 == 1 {
		share = rng.New(a.spec.Seed, "arena part", uint64(start)).Float64()
	}
	return s, a.show(&s, episodes, start, share, a.env.Spec().Horizon)
}

// progress says that one more episode is simulated, or clip of a recorded one made.
func (a *arenaShow) progress() {
	what := "showing the policies"
	if a.filmed {
		what = trainer.Cutting(a.done+1, a.total)
	}
	if a.done >= a.known {
		a.to.Progress(a.done, a.total, what)
	}
	a.done++
}

// show adds the clips of episodes, of the entrants s.who, that begin at a share of what comes before the last clip of
// an episode of longest steps; at the beginning, if nothing moves in two of them or more.
func (a *arenaShow) show(s *shots, episodes []*idrl.Trajectory, number int, share float64, longest int) error {
	still, err := a.cut(s, episodes, number, share, longest)
	if err == nil && still >= 2 && share > 0 {
		if a.spec.Arena.Recorded() {
			a.done -= len(episodes) // these are made again
		}
		_, err = a.cut(s, episodes, number, 0, longest)
	}
	return err
}

// cut is show wherever nothing moves, and returns in how many clips that is.
func (a *arenaShow) cut(s *shots, episodes []*idrl.Trajectory, number int, share float64, longest int) (still int, err error) {
	spec := a.env.Spec()
	s.clips, s.print = nil, ""
	for i, t := range episodes {
		n := t.Len()
		if spec.ClipSteps > 0 {
			n = min(n, spec.ClipSteps)
		}
		begin := min(int(share*float64(max(1, longest-n+1))), t.Len()-n)
		c := idrl.Segment(t, begin, n)
		s.print += string(c.ID)
		c.ID = a.clipID(s.who[i], number)
		if a.spec.Arena.Recorded() {
			a.progress()
		}
		if c.Media, err = clip.Encode(a.env, c); err != nil {
			return 0, err
		}
		shown, err := clip.Decode(c.Media)
		if err != nil {
			return 0, err
		}
		if rests(shown) {
			still++
		}
		s.clips = append(s.clips, c)
	}
	return still, nil
}

// rests reports whether nothing moves in a clip.
func rests(c *clip.Clip) bool {
	for i := range c.Frames {
		if !slices.Equal(c.Frames[i], c.Frames[0]) {
			return false
		}
	}
	for _, picture := range c.Header.Show {
		if picture != c.Header.Show[0] {
			return false
		}
	}
	return true
}

// record names the raw steps of t and returns them encoded.
func (a *arenaShow) record(t *idrl.Trajectory, start int) (content []byte, err error) {
	s := a.env.Spec()
	t.Raw, content, err = steps.Encode(steps.Of(t, idrl.Steps{Env: a.spec.Env, Version: s.Version, Seed: a.spec.Seed, Episode: uint64(start)}))
	return content, err
}

// clipID names a clip so that the name tells nothing of what it shows: neither the entrant, nor
// whether two clips are equal.
func (a *arenaShow) clipID(k, start int) idrl.ClipID {
	stream := rng.New(a.spec.Seed, "arena clip", uint64(start*idrl.MaxEntrants+k))
	b := binary.LittleEndian.AppendUint64(nil, stream.Uint64())
	return idrl.ClipID(hex.EncodeToString(binary.LittleEndian.AppendUint64(b, stream.Uint64())))
}

// episode records the episode of a policy from a start; nil if the simulation breaks down. All
// policies share the random numbers of a start.
func (a *arenaShow) episode(k, start int, p idrl.Policy) (*idrl.Trajectory, error) {
	states, ok := a.env.(idrl.Snapshotter)
	if !ok {
		return nil, idrl.Errorf(idrl.Invalid, "environment %q cannot save its states, so its clips cannot be drawn", a.spec.Env)
	}
	t := &idrl.Trajectory{ID: idrl.EntrantTrajectory(k, start), Env: a.env.Spec().ID, Policy: idrl.EntrantID(k)}
	for action, step := range idrl.EpisodeOf(a.env, p, a.stream(start)) {
		if step.Broken {
			return nil, idrl.Err(a.env)
		}
		if step.Kind != idrl.First {
			t.Actions, t.Phi = append(t.Actions, slices.Clone(action)), append(t.Phi, slices.Clone(step.Phi))
		}
		t.Snapshots, t.Obs = append(t.Snapshots, states.Snapshot(nil)), append(t.Obs, slices.Clone(step.Obs))
		t.End = step.Kind
	}
	return t, t.Validate()
}

func (a *arenaShow) stream(start int) *rand.Rand {
	return rng.New(a.spec.Seed, "arena rollout", uint64(start))
}
