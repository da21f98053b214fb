package rehearsal

import (
	"math"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/seeing"
	"tiebreak/internal/lab/sim"
)

// Seeing is the kind of expert that judges by what is drawn alone (package seeing). It has no
// true reward.
const Seeing = "seeing"

// An Expert says by which true reward, or taste, and how, a simulated annotator answers. What
// its kind does not use may be anything in range.
type Expert struct {
	// Matched draws the true reward from the session's prior and answers by the
	// session's likelihood (sim.NewMatched). The other fields but Right are not used then.
	Matched bool

	// Right gives the matched person another noise than the session assumes: that with which they are right about
	// this share of the pairs of the first questions, in (½, 1). 0: the session's.
	Right float64

	Kind        string  // one of Experts(); required
	Temperature float64 // noise of "bradley-terry", "tie-band" and "b-pref", in units of the range of rewards; required, > 0
	NoiseStd    float64 // of ratings and of "numeric", on a scale from −1 to 1
	TieBand     float64 // what "perfect", "tie-band" and "b-pref" call equal, in units of the range of rewards
	Mistake     float64 // probability that "b-pref" or "seeing" gives the opposite answer
	SkipBelow   float64 // "b-pref" skips a question about two clips whose true return is below
	Taste       string  // of "seeing" about the environment; empty: its first
	Threshold   float64 // of perception of "seeing" (seeing.Person); 0: sees everything
}

// Experts returns the kinds of expert, the default first.
func Experts() []string { return append(sim.Experts(), Seeing) }

// Check returns an error of kind Invalid if e cannot answer.
func (e Expert) Check() error {
	switch {
	case e.Right != 0 && !e.Matched:
		return idrl.Errorf(idrl.Invalid, "--right is the noise of a person whose reward is drawn from the session's prior: add --matched")
	case e.Right != 0 && !(e.Right > 0.5 && e.Right < 1):
		return idrl.Errorf(idrl.Invalid, "--right must be between 0.5 and 1; got %v", e.Right)
	case e.Matched:
		return nil
	case e.sees():
		return e.checkSeeing()
	}
	if !(e.Temperature > 0) || math.IsInf(e.Temperature, 1) {
		return idrl.Errorf(idrl.Invalid, "--temperature must be a positive number; got %v; for an expert who never errs say --expert perfect", e.Temperature)
	}
	_, err := sim.NewExpert(e.Kind, sim.Task{}, e.options(1, func(idrl.ClipID) [][]float64 { return nil }))
	return err
}

// sees reports whether the expert judges by what is drawn.
func (e Expert) sees() bool { return !e.Matched && e.Kind == Seeing }

func (e Expert) checkSeeing() error {
	switch {
	case !(e.Threshold >= 0) || math.IsInf(e.Threshold, 1):
		return idrl.Errorf(idrl.Invalid, "--threshold must be 0 or a positive number; got %v", e.Threshold)
	case !(e.Mistake >= 0 && e.Mistake <= 1):
		return idrl.Errorf(idrl.Invalid, "--mistake must be a probability; got %v", e.Mistake)
	}
	return nil
}

// person returns the person that sees, for questions of a kind about an environment. It returns an
// error of kind Invalid if the taste is unknown, or cannot be told from what is shown.
func (e Expert) person(env string, kind idrl.QueryKind, seed uint64) (*seeing.Person, error) {
	taste, err := seeing.Find(env, e.Taste)
	if err != nil {
		return nil, err
	}
	if kind.Still() && !taste.Stills {
		return nil, idrl.Errorf(idrl.Invalid, "the taste %q for %s needs moving clips: ask about clips", taste.Name, env)
	}
	return &seeing.Person{Taste: taste, Mistake: e.Mistake, Seed: seed, Threshold: e.Threshold}, nil
}

// name names the expert for people.
func (e Expert) name() string {
	if e.Matched {
		return "matched"
	}
	return e.Kind
}

// options returns those of an expert other than the matched one. scale is the range
// of rewards; steps returns the features of each step of a clip.
func (e Expert) options(scale float64, steps func(idrl.ClipID) [][]float64) sim.Options {
	return sim.Options{
		Range: scale, Temperature: e.Temperature, NoiseStd: e.NoiseStd, TieBand: e.TieBand, Steps: steps,
		Teacher: sim.Teacher{
			Beta: 1 / (e.Temperature * scale), Mistake: e.Mistake,
			SkipBelow: e.SkipBelow, EqualWithin: e.TieBand * scale,
		},
	}
}
