package statements

import (
	"math"
	"math/rand/v2"
	"slices"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"
	"tiebreak/internal/train/training"

	"gonum.org/v1/gonum/floats"
)

// A Kind is a kind of people who answer a session, one or several in turn.
type Kind struct {
	Name, About string

	cast   func(*stage) error // sets who answers, and theta where it is another
	hidden bool               // the session does not know some of the features
}

// A stage holds the truth about one session: the true weights, and how its people answer.
type stage struct {
	world World
	spec  idrl.SessionSpec
	prior idrl.Posterior // of the truth
	theta []float64      // true weights
	blind []int          // features that the session does not know
	cast  []actor        // who answers in turn
}

// An actor answers for one annotator.
type actor func(q idrl.QueryVector, r *rand.Rand) idrl.Answer

// weber is the noise that is added for each prior standard deviation of the difference of two clips.
const weber = 0.5

// like is the correlation of two tastes.
const like = 0.5

var kinds = []Kind{
	{
		Name: "matched", About: "true weights from the session's prior, answers by its likelihood; so are all others, but for what is said of them",
		cast: (*stage).matched,
	},
	{
		Name: "bradley-terry", About: "logistic noise of a tenth of the range of differences, never 'equal'",
		cast: (*stage).bradleyTerry,
	},
	{
		Name: "lapses", About: "one answer in ten is a or b at random: 5 % of the answers are wrong by it",
		cast: func(s *stage) error { return s.lapsing(0.1) },
	},
	{
		Name: "mistakes", About: "every second answer is a or b at random: 25 % of the answers are wrong by it",
		cast: func(s *stage) error { return s.lapsing(0.5) },
	},
	{
		Name: "contrast", About: "the noise grows with the difference of the clips: by half of its prior standard deviation (Weber's law)",
		cast: (*stage).contrast,
	},
	{
		Name: "hidden", About: "a fifth of the features, one at least, is in the reward but not known to the session",
		cast: (*stage).matched, hidden: true,
	},
	{
		Name: "tastes", About: "two people in turn whose true weights correlate by 0.5; the truth is their mean",
		cast: func(s *stage) error { return s.meant(s.two()...) },
	},
	{
		Name: "moods", About: "one person who has one of two such tastes, at random in each answer",
		cast: (*stage).moods,
	},
	{
		Name: "reversed", About: "three people in turn, one of whom takes the keys of a and b for each other",
		cast: (*stage).reversed,
	},
	{
		Name: "reversed-alone", About: "one person, who takes the keys of a and b for each other: nothing in the answers tells it",
		cast: (*stage).reversedAlone,
	},
}

// Kinds returns the kinds of people.
func Kinds() []Kind { return slices.Clone(kinds) }

// FindKind returns the kind of that name. It returns an error of kind Invalid if there is none.
func FindKind(name string) (Kind, error) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, idrl.Errorf(idrl.Invalid, "unknown people %q", name)
	}
	return kinds[i], nil
}

// stage returns the truth about a session of a seed with such people.
func (k Kind) stage(w World, seed uint64) (*stage, error) {
	s := &stage{world: w}
	var err error
	if s.spec, err = w.spec(seed); err != nil {
		return nil, err
	}
	m, err := training.Model(w.list, s.spec)
	if err != nil {
		return nil, err
	}
	s.prior = m.Prior()
	s.theta = s.prior.Sample(nil, s.stream("truth", 0))
	if k.hidden {
		s.hide()
	}
	return s, k.cast(s)
}

func (s *stage) stream(name string, n uint64) *rand.Rand { return rng.New(s.spec.Seed, name, n) }

// known is the scale of the prior of a weight that the session takes for 0.
const known = 1e-3

// hide has the session take the weights of a fifth of the features for 0, one at least.
func (s *stage) hide() {
	d := len(s.theta)
	scale := slices.Clone(s.spec.PriorScale)
	if scale == nil {
		scale = slices.Repeat([]float64{1}, d)
	}
	s.blind = s.stream("hidden", 0).Perm(d)[:max(1, d/5)]
	for _, k := range s.blind {
		scale[k] *= known
	}
	s.spec.PriorScale = scale
}

// meant sets people who answer by the session's likelihood, by true weights each.
func (s *stage) meant(thetas ...[]float64) error {
	for _, theta := range thetas {
		e, err := sim.NewMatched(s.spec, theta)
		if err != nil {
			return err
		}
		s.cast = append(s.cast, e.Answer)
	}
	return nil
}

func (s *stage) matched() error { return s.meant(s.theta) }

func (s *stage) bradleyTerry() error {
	env, err := training.Environment(s.world.list, s.spec)
	if err != nil {
		return err
	}
	scale := sim.Range(env, s.theta, s.spec.Kind, s.stream("range", 0))
	e, err := sim.NewExpert("bradley-terry", sim.Task{Theta: s.theta}, sim.Options{Range: scale, Temperature: 0.1})
	if err != nil {
		return err
	}
	s.cast = []actor{e.Answer}
	return nil
}

// lapsing sets a person who answers at random with a probability.
func (s *stage) lapsing(rate float64) error {
	if err := s.meant(s.theta); err != nil {
		return err
	}
	of := s.cast[0]
	s.cast[0] = func(q idrl.QueryVector, r *rand.Rand) idrl.Answer {
		if r.Float64() >= rate {
			return of(q, r)
		}
		return idrl.Answer{Choice: []idrl.Choice{idrl.ChoseA, idrl.ChoseB}[r.IntN(2)]}
	}
	return nil
}

func (s *stage) contrast() error {
	s.cast = []actor{func(q idrl.QueryVector, r *rand.Rand) idrl.Answer {
		along := make([]float64, len(q.X))
		s.prior.CovMul(along, q.X)
		noise := s.spec.NoiseStd + weber*math.Sqrt(floats.Dot(q.X, along))
		seen := floats.Dot(s.theta, q.X) + noise*r.NormFloat64()
		switch {
		case seen > s.spec.TieBand:
			return idrl.Answer{Choice: idrl.ChoseA}
		case seen < -s.spec.TieBand:
			return idrl.Answer{Choice: idrl.ChoseB}
		}
		return idrl.Answer{Choice: idrl.Equal}
	}}
	return nil
}

// two returns two tastes, and makes their mean the truth.
func (s *stage) two() [][]float64 {
	mean, other := s.prior.Mean(nil), s.prior.Sample(nil, s.stream("truth", 1))
	second, both := make([]float64, len(mean)), make([]float64, len(mean))
	for i, m := range mean {
		second[i] = m + like*(s.theta[i]-m) + math.Sqrt(1-like*like)*(other[i]-m)
		both[i] = (s.theta[i] + second[i]) / 2
	}
	first := s.theta
	s.theta = both
	return [][]float64{first, second}
}

func (s *stage) moods() error {
	if err := s.meant(s.two()...); err != nil {
		return err
	}
	tastes := s.cast
	s.cast = []actor{func(q idrl.QueryVector, r *rand.Rand) idrl.Answer { return tastes[r.IntN(2)](q, r) }}
	return nil
}

func (s *stage) reversed() error {
	if err := s.meant(s.theta, s.theta, s.theta); err != nil {
		return err
	}
	s.cast[2] = turned(s.cast[2])
	return nil
}

func (s *stage) reversedAlone() error {
	if err := s.meant(s.theta); err != nil {
		return err
	}
	s.cast[0] = turned(s.cast[0])
	return nil
}

// turned returns one who answers b where of answers a.
func turned(of actor) actor {
	return func(q idrl.QueryVector, r *rand.Rand) idrl.Answer {
		a := of(q, r)
		if a.Choice == idrl.ChoseA {
			a.Choice = idrl.ChoseB
		} else if a.Choice == idrl.ChoseB {
			a.Choice = idrl.ChoseA
		}
		return a
	}
}
