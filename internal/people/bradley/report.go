package bradley

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
)

// A Report holds the result of an arena in the form of the file arena.json.
type Report struct {
	Format  string         `json:"format"` // "tiebreak.arena"
	Version int            `json:"version"`
	Session idrl.SessionID `json:"session"`
	Title   string         `json:"title"`
	Env     string         `json:"env"`
	Seq     int64          `json:"seq"`     // of the last log row
	Answers int            `json:"answers"` // that count and prefer one, or say 'equal'
	Ties    int            `json:"ties"`
	Tied    float64        `json:"p_equal"`          // of two equally strong entrants
	Asked   int            `json:"questions_each"`   // that a person can be asked; 0 until the clips are made
	Budget  int            `json:"budget,omitempty"` // answers that end the arena; 0: none

	Entrants []ReportEntrant `json:"entrants"` // the strongest first
	Pairs    []ReportPair    `json:"pairs"`
	People   []ReportPerson  `json:"people"`
	More     *int            `json:"more_answers"`   // until the first two are separated; null: not known
	Test     *ReportTest     `json:"test,omitempty"` // for a winner; null where the arena has none

	Pairing *ReportPairing `json:"pairing,omitempty"` // of recorded policies, once the clips are made
	Tasks   []ReportTask   `json:"tasks,omitempty"`   // of recorded policies
	Groups  []ReportTask   `json:"groups,omitempty"`  // of tasks, where they have any
	Spread  ReportSpread   `json:"spread,omitzero"`   // what the intervals Population account for
	Cutting bool           `json:"clips_being_cut"`   // people are asked about a part of the clips so far (Partial)
}

// A ReportEntrant is an entrant in a Report.
type ReportEntrant struct {
	Title    string         `json:"title"`
	Session  idrl.SessionID `json:"session"`
	Policy   idrl.PolicyID  `json:"policy"`
	After    int64          `json:"after"`
	Strength float64        `json:"strength"` // log-odds, against the mean of all
	Low      float64        `json:"low"`      // of the 95 % interval, as High
	High     float64        `json:"high"`
	Best     float64        `json:"p_best"`
	Answers  int            `json:"answers"`
	Wins     int            `json:"preferred"`
	Ties     int            `json:"equal"`

	Population *ReportInterval `json:"population,omitempty"` // of Strength, for tasks and people like these (Wider); null if there are too few
}

// A ReportPair is a pair of entrants in a Report, by their titles.
type ReportPair struct {
	A         string  `json:"a"`
	B         string  `json:"b"`
	WinsA     int     `json:"a_preferred"`
	WinsB     int     `json:"b_preferred"`
	Ties      int     `json:"equal"`
	P         float64 `json:"p_a"` // that a is preferred when one of the two is; with a test the share of the decisive answers
	Low       float64 `json:"low"` // of the 95 % interval, as High; with a test of one that holds at all looks
	High      float64 `json:"high"`
	Separated bool    `json:"separated"` // the interval does not contain one half; with a test: it has found one to be preferred
	Starts    int     `json:"starts"`    // from which both are shown; 0 until the clips are made
	Unasked   int     `json:"not_asked"` // of these, those whose clips cannot be distinguished or do not move, or that both look as from another start
}

// A ReportPerson is a person in a Report.
type ReportPerson struct {
	ID       idrl.AnnotatorID `json:"annotator"`
	Answers  int              `json:"answers"`
	Ties     int              `json:"equal"`
	Compared int              `json:"compared"`
	Agreed   int              `json:"agreed"`
	Low      float64          `json:"low"`
	High     float64          `json:"high"`
	Expected float64          `json:"expected"`
	Chance   bool             `json:"as_by_chance"`
	Reversed bool             `json:"reversed"`
}

// NewReport returns that of the record of an arena, and what Outcomes returns. Errors are those of
// Outcomes, and of kind Invalid if the session is no arena.
func NewReport(r record.Record) (Report, []Outcome, error) {
	spec := r.Spec
	if !spec.IsArena() {
		return Report{}, nil, idrl.Errorf(idrl.Invalid, "session %s is not an arena: it learns a reward, and its annotators do not compare the policies of other sessions", spec.ID)
	}
	outcomes, err := Outcomes(r)
	if err != nil {
		return Report{}, nil, err
	}
	all, err := Analyse(len(spec.Arena.Entrants), outcomes)
	if err != nil {
		return Report{}, nil, err
	}
	out := Report{
		Format: "tiebreak.arena", Version: 1, Session: spec.ID, Title: spec.Title, Env: spec.Env, Seq: int64(len(r.Log)),
		Answers: all.Answers, Ties: all.Ties, Tied: all.Tied, Pairs: []ReportPair{}, People: []ReportPerson{},
	}
	if all.More != Unknown {
		out.More = &all.More
	}
	starts, asked := func(int, int) int { return 0 }, map[[2]int]int{}
	if out.Budget = spec.Budget; r.Generation != nil {
		out.Asked = len(r.Generation.Queries)
		starts, asked = meetings(spec.Arena, r.Generation)
	}
	title := func(k int) string { return spec.Arena.Entrants[k].Title }
	for _, k := range all.Order {
		e, is := spec.Arena.Entrants[k], all.Entrants[k]
		out.Entrants = append(out.Entrants, ReportEntrant{
			e.Title, e.Session, e.Policy, e.After, is.Strength, is.Low, is.High, is.Best, is.Answers, is.Wins, is.Ties, nil,
		})
	}
	if err := out.addTasks(r, all, outcomes); err != nil {
		return Report{}, nil, err
	}
	var places [][2]int
	for i, a := range all.Order { // the stronger of each pair first
		for _, b := range all.Order[i+1:] {
			places = append(places, [2]int{a, b})
			p, in := all.Of(a, b)
			pair := all.Pair(a, b)
			wins, losses := pair.WinsI, pair.WinsJ
			if a > b {
				wins, losses = losses, wins
			}
			out.Pairs = append(out.Pairs, ReportPair{
				title(a), title(b), wins, losses, pair.Ties, p, in.Low, in.High, pair.Separated, starts(a, b), starts(a, b) - asked[[2]int{min(a, b), max(a, b)}],
			})
		}
	}
	if s := test(spec.Arena, r.Generation, outcomes); s != nil {
		out.addTest(spec.Arena, s, places)
	}
	for _, p := range all.People {
		out.People = append(out.People, ReportPerson{p.ID, p.Answers, p.Ties, p.Compared, p.Agreed, p.Low, p.High, p.Expected, p.Chance, p.Reversed})
	}
	return out, outcomes, nil
}

// ShareKnown reports whether P of a pair is known: with a test it is a share of answers, of which there may be none.
func (r Report) ShareKnown(p ReportPair) bool { return r.Test == nil || p.WinsA+p.WinsB > 0 }

// Partial returns r of an arena whose clips are still being cut, without what is not known before all are: how many questions a person is asked at most, and how many
// pairs of episodes are left out.
func (r Report) Partial() Report {
	r.Cutting, r.Asked, r.Pairs = true, 0, slices.Clone(r.Pairs)
	for i := range r.Pairs {
		r.Pairs[i].Unasked = 0
	}
	return r
}

// Each says how many questions a person is asked at most, and how many people the budget, or else the test, needs at
// least if one is not enough. It is empty until the clips are made, and after the test.
func (r Report) Each() string {
	answers, wanted := r.Budget, words.Plural(r.Budget, "answer")
	if r.Budget == 0 && r.Test != nil {
		answers, wanted = r.Test.Left, fmt.Sprintf("about %s further answers", words.Count(r.Test.Left))
	}
	switch {
	case r.Asked == 0, r.Test != nil && r.Test.Over:
		return ""
	case answers <= r.Asked:
		return fmt.Sprintf("A person is asked at most %d questions.", r.Asked)
	}
	return fmt.Sprintf("A person is asked at most %d questions, so %s take at least %d people.", r.Asked, wanted, (answers+r.Asked-1)/r.Asked)
}

// meetings returns the number of starts from which two entrants of an arena are shown, of recorded policies that of their encounters, and for
// each pair of them, the lower index first, the number of these about which people are asked.
func meetings(arena idrl.Arena, g *idrl.Generation) (starts func(i, j int) int, asked map[[2]int]int) {
	asked = map[[2]int]int{}
	of := map[idrl.ClipID]int{}
	for id, c := range g.Clips {
		if k, ok := arena.EntrantOf(c.From); ok {
			of[id] = k
		}
	}
	for _, q := range g.Queries {
		a, b := of[q.Clips[0]], of[q.Clips[1]]
		asked[[2]int{min(a, b), max(a, b)}]++
	}
	return func(i, j int) int {
		if arena.Recorded() {
			return arena.Planned[arena.PairPlace(i, j)]
		}
		return len(of) / max(1, len(arena.Entrants))
	}, asked
}

// WriteCSV writes the entrants, a row each, the strongest first.
func (r Report) WriteCSV(w io.Writer) error {
	rows := [][]string{{"rank", "title", "session", "policy", "after", "strength", "low", "high", "p_best", "answers", "preferred", "equal", "population_low", "population_high", "clips_being_cut"}}
	for k, e := range r.Entrants {
		low, high := e.Population.cells()
		rows = append(rows, []string{
			strconv.Itoa(k + 1), e.Title, string(e.Session), string(e.Policy), strconv.FormatInt(e.After, 10),
			number(e.Strength), number(e.Low), number(e.High), number(e.Best), strconv.Itoa(e.Answers), strconv.Itoa(e.Wins), strconv.Itoa(e.Ties), low, high, strconv.FormatBool(r.Cutting),
		})
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// WriteOutcomes writes the answers that count, a row each: the annotator, the two entrants, and the
// preferred one, "equal" for none; of recorded policies also the task.
func WriteOutcomes(w io.Writer, of idrl.Arena, outcomes []Outcome) error {
	rows := [][]string{{"seq", "annotator", "a", "b", "preferred"}}
	if of.Recorded() {
		rows[0] = append(rows[0], "task")
	}
	for _, o := range outcomes {
		a, b := of.Entrants[o.A].Title, of.Entrants[o.B].Title
		preferred := "equal"
		switch o.Choice {
		case idrl.ChoseA:
			preferred = a
		case idrl.ChoseB:
			preferred = b
		default:
		}
		row := []string{strconv.FormatInt(o.Seq, 10), string(o.Person), a, b, preferred}
		if of.Recorded() {
			row = append(row, of.Tasks[o.Task].Name)
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
