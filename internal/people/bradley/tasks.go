package bradley

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
)

// A ReportPairing counts the pairs of clips that people are asked about in an arena of recorded policies, and the tasks that these are of.
type ReportPairing struct {
	Matched      int `json:"matched"` // whose episodes began alike, as the recordings say
	MatchedTasks int `json:"matched_tasks"`
	Random       int `json:"random"` // of episodes of one task that were drawn at random
	RandomTasks  int `json:"random_tasks"`
}

// A ReportTask is the result in one task, or in a group of tasks.
type ReportTask struct {
	Name     string              `json:"name"` // of the task, or of the group
	Group    string              `json:"group,omitempty"`
	Answers  int                 `json:"answers"`
	Ties     int                 `json:"equal"`
	Entrants []ReportTaskEntrant `json:"entrants"`        // in the order of Report.Entrants
	Spread   ReportSpread        `json:"spread,omitzero"` // what the intervals Population account for: in a task people alone
}

// A ReportTaskEntrant is an entrant in a task or a group. The numbers are as in ReportEntrant, of the answers about that task.
type ReportTaskEntrant struct {
	Title      string          `json:"title"`
	Strength   float64         `json:"strength"`
	Low        float64         `json:"low"`
	High       float64         `json:"high"`
	Answers    int             `json:"answers"`
	Wins       int             `json:"preferred"`
	Ties       int             `json:"equal"`
	Population *ReportInterval `json:"population,omitempty"` // as in ReportEntrant
}

// A ReportInterval is one of 95 %.
type ReportInterval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// cells returns the ends as cells of a table; empty where there is no interval.
func (i *ReportInterval) cells() (low, high string) {
	if i == nil {
		return "", ""
	}
	return number(i.Low), number(i.High)
}

// String writes the interval; "-" where there is none.
func (i *ReportInterval) String() string {
	if i == nil {
		return "-"
	}
	return fmt.Sprintf("%+.2f to %+.2f", i.Low, i.High)
}

// A ReportSpread says how many tasks and people the intervals Population are drawn from; 0 where there are too few to account for them.
type ReportSpread struct {
	Tasks  int `json:"tasks"`
	People int `json:"people"`
}

// addTasks adds what the report says of tasks, their groups, and intervals that account for tasks and people.
func (r *Report) addTasks(rec record.Record, all Result, outcomes []Outcome) error {
	arena := rec.Spec.Arena
	w, err := Widen(len(arena.Entrants), outcomes, intervals(all.Entrants))
	if err != nil {
		return err
	}
	r.Spread = ReportSpread{w.Tasks, w.People}
	for i, k := range all.Order {
		r.Entrants[i].Population = w.of(k)
	}
	if !arena.Recorded() {
		return nil
	}
	if rec.Generation != nil {
		r.Pairing = pairing(arena, rec.Generation)
	}
	var groups []string
	for t, task := range arena.Tasks {
		about, err := within(arena, all.Order, outcomes, func(o Outcome) bool { return o.Task == t })
		if err != nil {
			return err
		}
		about.Name, about.Group = task.Name, task.Group
		r.Tasks = append(r.Tasks, about)
		if task.Group != "" && !slices.Contains(groups, task.Group) {
			groups = append(groups, task.Group)
		}
	}
	for _, group := range groups {
		about, err := within(arena, all.Order, outcomes, func(o Outcome) bool { return arena.Tasks[o.Task].Group == group })
		if err != nil {
			return err
		}
		about.Name = group
		r.Groups = append(r.Groups, about)
	}
	return nil
}

// of returns the interval of entrant k; nil if there is none.
func (w Wider) of(k int) *ReportInterval {
	if w.Strengths == nil {
		return nil
	}
	return &ReportInterval{w.Strengths[k].Low, w.Strengths[k].High}
}

func intervals(all []Standing) (out []Interval) {
	for _, e := range all {
		out = append(out, e.Interval)
	}
	return out
}

// taskDraws are those of the posterior of a task.
const taskDraws = 1000

// within returns the result of the outcomes that are of a task or a group.
func within(arena idrl.Arena, order []int, outcomes []Outcome, is func(Outcome) bool) (out ReportTask, err error) {
	n := len(arena.Entrants)
	var own []Outcome
	for _, o := range outcomes {
		if is(o) {
			own = append(own, o)
		}
	}
	t := Of(n, own)
	f, err := t.Fit(Weak)
	if err != nil {
		return out, err
	}
	s := f.Sample(taskDraws, rng.New(0, "bradley", uint64(n))) // #nosec G115 -- a count
	standings := make([]Standing, n)
	for i := range standings {
		standings[i].Strength, standings[i].Interval = f.Strengths[i], s.Strength(i)
		for j := range n {
			if j != i {
				standings[i].add(t.Wins(i, j), t.Wins(j, i), t.Ties(i, j))
			}
		}
	}
	w, err := Widen(n, own, intervals(standings))
	if err != nil {
		return out, err
	}
	out.Spread = ReportSpread{w.Tasks, w.People}
	for _, k := range order {
		e := standings[k]
		out.Answers, out.Ties = out.Answers+e.Answers, out.Ties+e.Ties
		out.Entrants = append(out.Entrants, ReportTaskEntrant{arena.Entrants[k].Title, e.Strength, e.Low, e.High, e.Answers, e.Wins, e.Ties, w.of(k)})
	}
	out.Answers, out.Ties = out.Answers/2, out.Ties/2 // each is about two entrants
	return out, nil
}

// pairing counts the questions of an arena of recorded policies.
func pairing(arena idrl.Arena, g *idrl.Generation) *ReportPairing {
	p := &ReportPairing{}
	matched, random := map[int]bool{}, map[int]bool{}
	for _, q := range g.Queries {
		m, _ := arena.MeetingOf(g.Clips[q.Clips[0]].From)
		if m.Start < 0 {
			p.Random++
			random[m.Task] = true
			continue
		}
		p.Matched++
		matched[m.Task] = true
	}
	p.MatchedTasks, p.RandomTasks = len(matched), len(random)
	return p
}

// Meetings says which episodes of recorded policies are compared; nothing in other arenas, and before the clips are made.
func (r Report) Meetings() string {
	p := r.Pairing
	if p == nil {
		return ""
	}
	matched := fmt.Sprintf("%s in %s, matched by start", words.Plural(p.Matched, "pair"), words.Plural(p.MatchedTasks, "task"))
	random := fmt.Sprintf("%s in %s, drawn at random", words.Plural(p.Random, "pair"), words.Plural(p.RandomTasks, "task"))
	switch {
	case p.Random == 0:
		return "People compare two episodes of one task: " + matched + "."
	case p.Matched == 0:
		return "People compare two episodes of one task: " + random + "."
	}
	return "People compare two episodes of one task: " + matched + ", and " + random + "."
}

// Accounts says what the intervals Population are about, a sentence; nothing where there are none.
func (r Report) Accounts() string {
	if of := r.Spread.about(len(r.Tasks) > 0); of != "" {
		return "The wider intervals hold " + of + ": they account for their differences."
	}
	return ""
}

// AccountsOfTasks says what the intervals Population of tasks and groups are about; nothing where there are none.
func (r Report) AccountsOfTasks() string {
	has := func(t ReportTask) bool { return t.Spread != ReportSpread{} }
	if !slices.ContainsFunc(r.Tasks, has) && !slices.ContainsFunc(r.Groups, has) {
		return ""
	}
	out := "The wider interval of a task holds for people like those who answered about it"
	if len(r.Groups) > 0 {
		out += ", that of a group also for tasks like its own"
	}
	return out + fmt.Sprintf("; fewer than %d are not accounted for.", FewestClusters)
}

func (s ReportSpread) about(recorded bool) string {
	tasks, people := words.Plural(s.Tasks, "task"), fmt.Sprintf("%d people", s.People)
	switch {
	case s.Tasks > 0 && s.People > 0:
		return fmt.Sprintf("for tasks and people like these %s and %s", tasks, people)
	case s.Tasks > 0:
		return fmt.Sprintf("for tasks like these %s, and these people alone", tasks)
	case s.People > 0 && recorded:
		return fmt.Sprintf("for people like these %s, and these tasks alone", people)
	case s.People > 0:
		return fmt.Sprintf("for people like these %s", people)
	}
	return ""
}

// WriteTasks writes the result in each task and group, a row for each entrant there.
func (r Report) WriteTasks(w io.Writer) error {
	rows := [][]string{{"kind", "name", "group", "title", "strength", "low", "high", "answers", "preferred", "equal", "population_low", "population_high", "clips_being_cut"}}
	rows = append(rows, r.taskRows("task", r.Tasks)...)
	rows = append(rows, r.taskRows("group", r.Groups)...)
	return csv.NewWriter(w).WriteAll(rows)
}

func (r Report) taskRows(kind string, list []ReportTask) (rows [][]string) {
	for _, t := range list {
		for _, e := range t.Entrants {
			low, high := e.Population.cells()
			rows = append(rows, []string{
				kind, t.Name, t.Group, e.Title, number(e.Strength), number(e.Low), number(e.High), strconv.Itoa(e.Answers), strconv.Itoa(e.Wins), strconv.Itoa(e.Ties), low, high, strconv.FormatBool(r.Cutting),
			})
		}
	}
	return rows
}
