package idrl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Arena makes a session one in which people compare policies of other sessions without knowing
// which is which. Its answers teach no reward: its posterior is about the strengths of the
// entrants.
type Arena struct {
	Entrants []Entrant // 2 to MaxEntrants; weight k of the posterior is the strength of entrant k
	Layout   uint64    // seed of the environment's layout, that of the sessions of the entrants; of recorded policies, of which of their episodes meet

	// Tasks are those of an arena of recorded policies (Recorded): a question is about two episodes of one of them. Nil in others.
	Tasks []ArenaTask `json:",omitempty"`

	// Planned is how many pairs of clips were to be made of every two entrants of an arena of recorded policies, by PairPlace. Nil in others.
	Planned []int `json:",omitempty"`

	// Detect is the smallest preference that the test for a winner is planned to find, as a share of the decisive
	// answers about two entrants, in [MinDetect, MaxDetect]. 0: the arena is not tested; its questions are those that tell most about all strengths.
	Detect float64 `json:",omitzero"`
}

// DefaultDetect is that of an arena, where nothing else is wanted.
const (
	DefaultDetect        = 0.7
	MinDetect, MaxDetect = 0.55, 0.95
)

// An Entrant is a policy in an arena.
type Entrant struct {
	Title   string    // for researchers; annotators never see it
	Session SessionID // that trained or recommended it; empty of a policy that was chosen among those of recordings
	Policy  PolicyID  // there; or its name among the policies of recordings
	After   int64     // log row of that session after which it was the recommended policy
}

// An ArenaTask is what the policies of recordings were to do in some of their episodes.
type ArenaTask struct {
	Name  string // as the recordings give it, which annotators see; empty of episodes without one
	Group string `json:",omitempty"` // for researchers, who name it; empty for none
}

// MaxEntrants is the most policies that an arena compares.
const MaxEntrants = 20

// MaxTasks is the most tasks that an arena has: as many as pairs of clips.
const MaxTasks = 200

// Recorded reports whether the entrants are policies of recordings, which acted before.
func (a Arena) Recorded() bool { return len(a.Tasks) > 0 }

// Fixed settings of arenas: strengths are in units of log-odds, and the prior is that of their
// statistics (package bradley).
const (
	arenaPriorVar = 4
	arenaNoise    = 1.5957691216057308 // √(8/π): one unit of strength is one of log-odds
	arenaTieBand  = 0.5
	arenaMethod   = "igr"
)

// IsArena reports whether the session compares policies of other sessions.
func (s SessionSpec) IsArena() bool { return len(s.Arena.Entrants) > 0 }

// AsArena returns s with the settings that all arenas share: comparisons of clips, chosen by their
// information about the strengths. Questions that people cannot answer are left out when the
// questions are made, not when one is chosen.
func (s SessionSpec) AsArena() SessionSpec {
	s.Kind, s.Acquisition, s.Model, s.Solver, s.Prior = CompareClips, arenaMethod, FeaturesModel, OwnSolver, LinearPrior
	s.Likelihood, s.Noise, s.Questions, s.Leader = "bradley-terry", SharedNoise, AnyQuestions, ExpectedLeader
	s.PriorVar, s.NoiseStd, s.TieBand = arenaPriorVar, arenaNoise, arenaTieBand
	s.PriorScale, s.RepeatEvery, s.GoldEvery, s.ShowLearnt, s.Strength, s.MuchBand, s.Remarks = nil, 0, 0, false, false, 0, false
	s.StopByItself, s.AskOn = false, false
	return s
}

// LayoutSeed returns the seed of the layout of the session's environment.
func (s SessionSpec) LayoutSeed() uint64 {
	if s.IsArena() {
		return s.Arena.Layout
	}
	return s.Seed
}

// Titles returns the titles of the entrants.
func (a Arena) Titles() []string {
	out := make([]string, len(a.Entrants))
	for k, e := range a.Entrants {
		out[k] = e.Title
	}
	return out
}

// Validate returns an error of kind Invalid that says what to change.
func (a Arena) Validate() error {
	if n := len(a.Entrants); n < 2 || n > MaxEntrants {
		return Errorf(Invalid, "an arena compares 2 to %d policies; got %d", MaxEntrants, n)
	}
	if d := a.Detect; d != 0 && !(d >= MinDetect && d <= MaxDetect) {
		return Errorf(Invalid, "the preference that is to be found must be a share of the answers from %g to %g, such as %g, or 0 for no test; got %g", MinDetect, MaxDetect, DefaultDetect, d)
	}
	if n := len(a.Entrants); a.Recorded() && len(a.Planned) != n*(n-1)/2 {
		return Errorf(Invalid, "an arena of %d recorded policies plans questions about %d pairs of them", n, len(a.Planned))
	}
	if len(a.Tasks) > MaxTasks {
		return Errorf(Invalid, "an arena has at most %d tasks; got %d", MaxTasks, len(a.Tasks))
	}
	for _, t := range a.Tasks {
		if t.Group != "" && (!IsVisible(t.Group) || CheckTitle(t.Group) != nil) {
			return Errorf(Invalid, "the group of task %.100q must be plain text of at most %d characters on one line", t.Name, MaxTitle)
		}
	}
	for k, e := range a.Entrants {
		if !IsVisible(e.Title) {
			return NotVisible(fmt.Sprintf("title of entrant %d", k+1))
		}
		if err := CheckTitle(e.Title); err != nil {
			return Errorf(Invalid, "the title of entrant %d must be plain text of 1 to %d characters on one line", k+1, MaxTitle)
		}
		if slices.Contains(a.Titles()[:k], e.Title) {
			return Errorf(Invalid, "two entrants have the title %q; give each a title of its own", e.Title)
		}
		same := func(o Entrant) bool { return o.Session == e.Session && o.Policy == e.Policy }
		if i := slices.IndexFunc(a.Entrants[:k], same); i >= 0 {
			return Errorf(Invalid, "entrants %q and %q are the same policy, %s%s", a.Entrants[i].Title, e.Title, e.Policy, ofSession(e.Session))
		}
	}
	return nil
}

// ofSession says of which session a policy is; nothing for none.
func ofSession(id SessionID) string {
	if id == "" {
		return ""
	}
	return " of session " + string(id)
}

// PairPlace returns the place of entrants i and j, which differ, in lists of all pairs: (0, 1), (0, 2), …, (1, 2), …
func (a Arena) PairPlace(i, j int) int {
	i, j = min(i, j), max(i, j)
	return i*len(a.Entrants) - i*(i+1)/2 + j - i - 1
}

// EntrantID is the policy id of entrant k, from 0, within its arena.
func EntrantID(k int) PolicyID { return PolicyID(fmt.Sprintf("e%d", k+1)) }

// EntrantTrajectory is the id of the episode of entrant k from start n.
func EntrantTrajectory(k, n int) TrajectoryID { return TrajectoryID(fmt.Sprintf("e%d.%d", k+1, n)) }

// A Meeting says what an episode of a recorded policy is shown for in an arena.
type Meeting struct {
	Task  int // place in Arena.Tasks
	Start int // number of the start of the episode within its task; -1 where it meets others at random
}

// EntrantEpisode is the id of recording n, shown for entrant k.
func EntrantEpisode(k, n int, m Meeting) TrajectoryID {
	if m.Start < 0 {
		return TrajectoryID(fmt.Sprintf("e%d.%d.t%d", k+1, n, m.Task))
	}
	return TrajectoryID(fmt.Sprintf("e%d.%d.t%d.s%d", k+1, n, m.Task, m.Start))
}

// MeetingOf returns what an episode of a recorded policy is shown for; ok is false of other episodes.
func (a Arena) MeetingOf(t TrajectoryID) (m Meeting, ok bool) {
	parts := strings.Split(string(t), ".")
	if len(parts) != 3 && len(parts) != 4 {
		return m, false
	}
	m.Start = -1
	task, isTask := strings.CutPrefix(parts[2], "t")
	var err error
	if m.Task, err = strconv.Atoi(task); !isTask || err != nil || m.Task < 0 || m.Task >= len(a.Tasks) {
		return m, false
	}
	if len(parts) == 4 {
		start, isStart := strings.CutPrefix(parts[3], "s")
		m.Start, err = strconv.Atoi(start)
		ok = isStart && err == nil && m.Start >= 0
		return m, ok
	}
	return m, true
}

// EntrantOf returns which entrant of a an episode shows.
func (a Arena) EntrantOf(t TrajectoryID) (k int, ok bool) {
	name, _, _ := strings.Cut(string(t), ".")
	number, ok := strings.CutPrefix(name, "e")
	k, err := strconv.Atoi(number)
	return k - 1, ok && err == nil && k >= 1 && k <= len(a.Entrants)
}

// Indicator returns the features of entrant k in an arena: 1 for itself, 0 for the others.
func (a Arena) Indicator(k int) []float64 {
	out := make([]float64, len(a.Entrants))
	out[k] = 1
	return out
}
