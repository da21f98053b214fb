package training

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/driven"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/people/sequential"
	"tiebreak/internal/study/settings"
)

// A cutWorld is an arena of filmed recordings that people answer while its clips are being cut. The logit of a preference is the difference of what two policies
// are worth, plus normal effects of the task, of the episodes that meet, and of the person.
type cutWorld struct {
	name                     string
	worth                    []float64 // of the policies
	episodes                 []int     // of each policy in each task
	people                   int
	think                    float64 // mean seconds of an answer, exponential
	cut                      float64 // seconds to cut a clip
	byTask, byMeet, byPerson float64 // standard deviations of the effects
	ties                     float64
	opposed                  bool // effects come in pairs that are the negative of each other: policies of equal worth then are preferred in exactly half of the decisive answers
	answers                  int  // after which one looks, of an arena without a test; 0: one with a test, until it is over
}

// draw returns n effects for each policy.
func (w cutWorld) draw(n int, std float64, stream *rand.Rand) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, len(w.worth))
		for k := range out[i] {
			if out[i][k] = std * stream.NormFloat64(); w.opposed && i%2 == 1 {
				out[i][k] = -out[i-1][k]
			}
		}
	}
	return out
}

// A cutArena is a run of a world. It implements footage and driven.Trainer: which clips there are at what time is up to the product.
type cutArena struct {
	cutWorld
	arena          idrl.Arena
	plan           encounterPlan
	show           arenaShow
	agents         map[string][]byte
	tasks, persons [][]float64            // effects
	meets          [][][]float64          // likewise, by task and encounter
	at             map[idrl.ClipID]clipOf // of all clips that will be
	wins           map[[2]int]float64     // decisive answers that prefer the first of two
	state          *sequential.State      // after the answers so far
	outcomes       []bradley.Outcome      // these answers
	truth          map[[2]int]float64     // share of the decisive answers that would prefer the first of two, about all tasks, episodes and people
	missed         bool                   // an interval of such a share did not hold it after some answer
	next           []time.Duration        // when each person answers
}

// clipOf says what a clip shows.
type clipOf struct{ task, meet, entrant int }

// gather implements footage.
func (c *cutArena) gather(context.Context, encounter) (shots, error) { return shots{}, nil }

// meet implements footage.
func (c *cutArena) meet(_ context.Context, e encounter, n, _ int) (s shots, err error) {
	s.print, s.asks = fmt.Sprint(n), func(i, j int) bool { return e.pairs[[2]int{i, j}] }
	for k := range c.worth {
		if i, ok := e.episodes[k]; ok {
			s.who = append(s.who, k)
			s.clips = append(s.clips, idrl.Clip{ID: c.show.clipID(k, n), From: idrl.EntrantEpisode(k, i, e.Meeting), Steps: 5, Phi: []float64{1}})
		}
	}
	return s, nil
}

// Train implements driven.Trainer.
func (c *cutArena) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, time.Duration, error) {
	a := c.show
	g, err := a.gradual(ctx, request{Spec: a.spec, BasedOn: job.BasedOn, From: job.From, Agents: c.agents}, c, c.plan)
	if g.Agents != nil {
		c.agents = g.Agents
	}
	return g, time.Duration(c.cut * float64(len(g.Clips)) * float64(time.Second)), err
}

// prefers returns the probability that a decisive answer prefers entrant i to j.
func (c *cutArena) prefers(i, j, task, meet, person int) float64 {
	d := c.worth[i] - c.worth[j]
	for _, effect := range [][]float64{c.tasks[task], c.meets[task][meet], c.persons[person]} {
		d += effect[i] - effect[j]
	}
	return 1 / (1 + math.Exp(-d))
}

// still is a policy.
type still struct{}

func (still) Act(dst idrl.Action, _ []float64, _ *rand.Rand) idrl.Action { return dst }
func (still) Params() []float64                                          { return []float64{1} }

// plans returns a run without answers, and its session.
func (w cutWorld) plans(t *testing.T, seed uint64, stream *rand.Rand) (*cutArena, *driven.Session) {
	t.Helper()
	c := &cutArena{cutWorld: w, wins: map[[2]int]float64{}, truth: map[[2]int]float64{}, at: map[idrl.ClipID]clipOf{}}
	arena, places := entrantsOf(len(w.worth))
	var episodes []recordings.Episode
	for task, n := range w.episodes {
		for k := range w.worth {
			episodes = append(episodes, fought(k, fmt.Sprint("task ", task), strings.Repeat(" ", n))...)
		}
	}
	var err error
	if c.plan, err = planEncounters(episodes, arena, places, seed); err != nil {
		t.Fatal(err)
	}
	for _, name := range c.plan.tasks {
		arena.Tasks = append(arena.Tasks, idrl.ArenaTask{Name: name})
	}
	if arena.Planned, arena.Layout = c.plan.planned, seed; w.answers == 0 {
		arena.Detect = idrl.DefaultDetect
		c.state = bradley.NewTest(arena, nil)
	}
	spec := settings.Complete(idrl.SessionSpec{ID: "s1", Title: "cut", Env: "none", Seed: seed, Arena: arena, Features: arena.Titles()}.AsArena())
	spec.TrainEvery, spec.AdoptAfter = 0, 0
	c.arena, c.show = arena, arenaShow{spec: spec, filmed: true, to: says{new([]string)}}
	for range w.worth {
		c.show.policies = append(c.show.policies, still{})
	}
	c.populate(stream)
	method, err := acquisition.Find(spec.Acquisition)
	if err != nil {
		t.Fatal(err)
	}
	model := belief.Model{Start: belief.Isotropic(len(w.worth), spec.PriorVar), Comparison: belief.BradleyTerry{Beta: 1, TieWidth: spec.TieBand}}
	s, err := driven.Start(t.Context(), driven.Config{Spec: spec, Model: model, Method: method, Trainer: c})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// populate draws the effects, and says what is true of them.
func (c *cutArena) populate(stream *rand.Rand) {
	c.tasks, c.persons = c.draw(len(c.episodes), c.byTask, stream), c.draw(c.people, c.byPerson, stream)
	for i, n := range c.episodes {
		if c.opposed && i%2 == 1 {
			c.meets = append(c.meets, slices.Clone(c.meets[i-1]))
		} else {
			c.meets = append(c.meets, c.draw(n, c.byMeet, stream))
		}
	}
	for _, list := range c.meets {
		stream.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	seen := make([]int, len(c.episodes))
	for n, e := range c.plan.encounters {
		for k := range c.worth {
			c.at[c.show.clipID(k, n)] = clipOf{e.Task, seen[e.Task], k}
		}
		seen[e.Task]++
	}
	for j := range c.worth {
		for i := range j {
			for task, list := range c.meets {
				for meet := range list {
					for person := range c.persons {
						c.truth[[2]int{i, j}] += c.prefers(i, j, task, meet, person) / float64(len(c.meets)*len(list)*len(c.persons))
					}
				}
			}
		}
	}
}

// run has people answer until the arena is over.
func (w cutWorld) run(t *testing.T, seed uint64) *cutArena {
	t.Helper()
	stream := rng.New(seed, "cut world", 0)
	c, s := w.plans(t, seed, stream)
	defer s.Close()
	pause := func() time.Duration { return time.Duration(w.think * stream.ExpFloat64() * float64(time.Second)) }
	for range w.people {
		c.next = append(c.next, s.Now()+pause())
	}
	for !c.over() {
		who := slices.Index(c.next, slices.Min(c.next))
		if c.next[who] == math.MaxInt64 {
			break // all have answered all
		}
		if err := s.Until(t.Context(), c.next[who]); err != nil {
			t.Fatal(err)
		}
		open, err := s.Claim(t.Context(), idrl.AnnotatorID(fmt.Sprint("person ", who)))
		if err != nil {
			t.Fatal(err)
		}
		if len(open) == 0 {
			ends, cutting, err := s.Ends(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.next[who] = ends + pause(); !cutting {
				c.next[who] = math.MaxInt64
			}
			continue
		}
		choice := c.answer(open[0].Query, who, stream)
		if err := s.Answer(t.Context(), open[0], idrl.Answer{Choice: choice}); err != nil {
			t.Fatal(err)
		}
		c.next[who] += pause()
	}
	return c
}

func (c *cutArena) over() bool {
	if c.state == nil {
		return len(c.outcomes) >= c.answers
	}
	return c.state.Verdict().Done
}

// answer draws what a person says to a question, and takes note of it.
func (c *cutArena) answer(q idrl.Query, who int, stream *rand.Rand) idrl.Choice {
	a, b := c.at[q.Clips[0]], c.at[q.Clips[1]]
	o := bradley.Outcome{A: a.entrant, B: b.entrant, Task: a.task, Person: idrl.AnnotatorID(fmt.Sprint(who)), Choice: idrl.Equal}
	if stream.Float64() >= c.ties {
		o.Choice = idrl.ChoseB
		pair := [2]int{o.B, o.A}
		if stream.Float64() < c.prefers(o.A, o.B, a.task, a.meet, who) {
			o.Choice, pair = idrl.ChoseA, [2]int{o.A, o.B}
		}
		c.wins[pair]++
		pair = [2]int{min(o.A, o.B), max(o.A, o.B)}
		low, high := sequential.Interval(c.wins[pair], c.wins[[2]int{pair[1], pair[0]}])
		c.missed = c.missed || c.truth[pair] < low || c.truth[pair] > high
	}
	if c.outcomes = append(c.outcomes, o); c.state != nil {
		c.state.Add(o.A, o.B, o.Choice)
	}
	return o.Choice
}

// falsely reports whether a policy was called the winner that is not preferred to each other one in more than half of the decisive answers.
func (c *cutArena) falsely() (winner, wrong bool) {
	k := c.state.Verdict().Winner
	for pair, p := range c.truth {
		wrong = wrong || k == pair[0] && p <= 0.5+1e-9 || k == pair[1] && p >= 0.5-1e-9
	}
	return k >= 0, wrong
}

// cutWorlds are arenas in which the clips are cut as fast as people answer or far more slowly, and episodes decide more than policies do.
func cutWorlds() []cutWorld {
	four := []int{20, 20, 20, 20}
	return []cutWorld{
		{name: "two, equal, cut slowly", worth: []float64{0, 0}, episodes: four, people: 10, think: 5, cut: 1.5, byTask: 1, byMeet: 2.5, byPerson: 0.5, opposed: true},
		{name: "two, equal, cut very slowly", worth: []float64{0, 0}, episodes: []int{30, 30}, people: 20, think: 4, cut: 10, byMeet: 4, opposed: true},
		{name: "two, equal, cut fast", worth: []float64{0, 0}, episodes: four, people: 2, think: 8, cut: 0.5, byTask: 1, byMeet: 2.5, byPerson: 1, ties: 0.2, opposed: true},
		{name: "two, equal, tasks of few and of many episodes", worth: []float64{0, 0}, episodes: []int{6, 6, 30, 30}, people: 10, think: 5, cut: 1.5, byTask: 1.5, byMeet: 2, byPerson: 0.5, opposed: true},
		{name: "two, as planned", worth: []float64{1.4, 0}, episodes: four, people: 10, think: 5, cut: 1.5, byTask: 0.5, byMeet: 1, byPerson: 0.5, ties: 0.1, opposed: true},
		{name: "three, equal", worth: []float64{0, 0, 0}, episodes: four, people: 10, think: 5, cut: 1.5, byTask: 1, byMeet: 2.5, byPerson: 0.5, ties: 0.1, opposed: true},
		{name: "four, the first two equal", worth: []float64{1.5, 1.5, 0, 0}, episodes: four, people: 10, think: 5, cut: 1.5, byTask: 1, byMeet: 2, byPerson: 0.5, ties: 0.1, opposed: true},
	}
}

// areRight checks the false winners and intervals of runs of a world, after every answer.
func (w cutWorld) areRight(t *testing.T, runs int) {
	t.Helper()
	winners, wrong, missed, answers := 0, 0, 0, 0
	for seed := range uint64(runs) { // #nosec G115 -- a number of runs
		c := w.run(t, seed)
		called, falsely := c.falsely()
		for is, n := range map[*int]bool{&winners: called, &wrong: falsely, &missed: c.missed} {
			if n {
				*is++
			}
		}
		answers += len(c.outcomes)
	}
	share := func(n int) float64 { return float64(n) / float64(runs) }
	noise := 3 * math.Sqrt(sequential.Level*(1-sequential.Level)/float64(runs))
	said := fmt.Sprintf("%s: %d runs; a winner in %.4f, a false one in %.4f ± %.4f; an interval of a share missed at some look in %.4f; %.0f answers on average",
		w.name, runs, share(winners), share(wrong), 1.96*math.Sqrt(share(wrong)*(1-share(wrong))/float64(runs)), share(missed), share(answers))
	if t.Log(said); share(wrong) > sequential.Level+noise || len(w.worth) == 2 && share(missed) > sequential.Level+noise {
		t.Errorf("not as promised: %s", said)
	}
}

// TestFalseWinnersWhileClipsAreCut: people answer an arena of filmed recordings while its clips are being cut. Policies are equal over all tasks, episodes and people, but not in any one of
// them, and a false winner is called in at most 5 of 100 arenas.
func TestFalseWinnersWhileClipsAreCut(t *testing.T) { cutWorlds()[0].areRight(t, 40) }

// TestFalseWinnersOfManyArenas is TestFalseWinnersWhileClipsAreCut in 400 arenas of two policies and 60 of more, in each of the worlds. In 2,000
// arenas of the first world 0.95 ± 0.43 % had a false winner, and in 2,000 as planned none.
func TestFalseWinnersOfManyArenas(t *testing.T) {
	for _, w := range cutWorlds() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			w.areRight(t, map[bool]int{true: 400, false: 60}[len(w.worth) == 2])
		})
	}
}

// TestIntervalsWhileClipsAreCut: of arenas without a test that are looked at while their clips are being cut, the wider intervals hold the strengths in all tasks, episodes and people.
func TestIntervalsWhileClipsAreCut(t *testing.T) {
	const runs = 200
	for _, w := range []cutWorld{
		{name: "after 40 answers", worth: []float64{0.5, -0.5}, episodes: []int{20, 20, 20, 20, 20, 20, 20, 20}, people: 10, think: 5, cut: 3, byTask: 0.7, byMeet: 1.5, byPerson: 0.7, ties: 0.1, answers: 40},
		{name: "after 100 answers", worth: []float64{0.5, -0.5}, episodes: []int{20, 20, 20, 20, 20, 20, 20, 20}, people: 10, think: 5, cut: 1.5, byTask: 0.7, byMeet: 1.5, byPerson: 0.7, ties: 0.1, answers: 100},
	} {
		std, mean, stream := math.Sqrt(2*(w.byTask*w.byTask+w.byMeet*w.byMeet+w.byPerson*w.byPerson)), 0., rng.New(1, "whole", 0)
		const draws = 400_000
		for range draws {
			mean += 1 / (1 + math.Exp(-(w.worth[0] - w.worth[1] + std*stream.NormFloat64()))) / draws
		}
		is := math.Log(mean/(1-mean)) / 2
		wide, narrow := 0, 0
		for seed := range uint64(runs) {
			c := w.run(t, seed)
			r, err := bradley.Analyse(2, c.outcomes)
			if err != nil {
				t.Fatal(err)
			}
			own := []bradley.Interval{r.Entrants[0].Interval, r.Entrants[1].Interval}
			wider, err := bradley.Widen(2, c.outcomes, own)
			if err != nil {
				t.Fatal(err)
			}
			if got := wider.Strengths[0]; got.Low <= is && is <= got.High {
				wide++
			}
			if own[0].Low <= is && is <= own[0].High {
				narrow++
			}
		}
		t.Logf("%s: the wider intervals hold %.3f, the others %.3f of %d", w.name, float64(wide)/runs, float64(narrow)/runs, runs)
		if float64(wide)/runs < 0.95-3*math.Sqrt(0.05*0.95/runs) {
			t.Errorf("%s: the wider intervals hold %d of %d", w.name, wide, runs)
		}
	}
}
