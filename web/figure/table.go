package figure

import (
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/bradley"
	"tiebreak/internal/session/insight"
	"tiebreak/internal/session/view"
)

// A Moment is what tables are computed from: what a session says of itself at one moment. A table needs one of the
// parts (Table.Of); the others may be zero.
type Moment struct {
	Spec    idrl.SessionSpec
	Status  view.Status
	Insight *insight.Report
	Scores  view.ConditionScores
	Arena   bradley.Report
}

// Part names a part of a Moment.
type Part int

// Parts of a Moment.
const (
	OfInsight Part = iota
	OfStatus
	OfScores
	OfArena
)

// A Table is the data of a chart. docs/dashboard.md says what its columns mean.
type Table struct {
	Name    string // as in its address
	What    string // that it holds, for people
	Columns []string
	Of      Part // that it is computed from

	// Write calls put with the cells of each row, in the order of Columns. Nil is an empty cell.
	Write func(m Moment, put func(...any) error) error
}

// Tables returns the tables that are computed from a Moment.
func Tables() []Table {
	return []Table{
		{"calibration", "How predictions of answers came true", []string{"from", "to", "answers", "came_true", "predicted", "share", "share_low", "share_high", "of"}, OfInsight, calibrationTable},
		{"predictions", "What was predicted of each comparison", []string{"row", "p_a", "p_b", "p_equal", "answer"}, OfInsight, predictionTable},
		{"group_predictions", "What was predicted of each group, where people choose the best and the worst", groupColumns(), OfInsight, groupTable},
		{"transforms", "How predictions of ratings came true", []string{"from", "to", "ratings", "expected", "chance_low", "chance_high"}, OfInsight, transformTable},
		{"ratings", "What was predicted of each rating", []string{"row", "rating", "predicted", "predicted_low", "predicted_high", "transform"}, OfInsight, ratingTable},
		{"history", "Weights of the reward, by the number of answers", []string{"answers", "weight", "mean", "std"}, OfInsight, historyTable},
		{"networks", "What each reward network rewards", []string{"network", "row", "clips", "feature", "correlation"}, OfInsight, networkTable},
		{"covariance", "Covariances of the weights", []string{"weight_1", "weight_2", "covariance", "correlation"}, OfInsight, covarianceTable},
		{"rate", "Answers in each hour", []string{"hour", "answers"}, OfInsight, rateTable},
		{"times", "Response times of each annotator", []string{"annotator", "answers", "p5_s", "p25_s", "p50_s", "p75_s", "p95_s"}, OfInsight, timesTable},
		{"answers", "Shares of the kinds of answers", []string{"answer", "number", "share", "share_low", "share_high"}, OfInsight, mixTable},
		{"verdicts", "Shares of success by policy and task, where people judge success", []string{"policy", "task", "episodes", "failures", "partial", "successes", "share", "share_low", "share_high"}, OfInsight, verdictTable},
		{"regret", "The statement of regret after each answer", []string{"row", "answers", "definition", "p_within", "bound", "mean", "p_unbeaten", "span", "policies"}, OfStatus, regretTable},
		{"candidates", "Returns of the candidate policies", []string{"policy", "title", "origin", "mean", "std", "candidates"}, OfStatus, candidateTable},
		{"weights", "Weights of the reward now", []string{"weight", "mean", "std"}, OfStatus, weightTable},
		{"conditions", "How well each condition predicts held-out answers", []string{
			"condition", "share", "questions", "answers_in_all", "answers", "decisive", "right", "accuracy", "accuracy_low", "accuracy_high", "answered", "log_loss",
		}, OfScores, conditionTable},
		{"strengths", "Strengths of the entrants", []string{"rank", "title", "session", "policy", "after", "strength", "low", "high", "p_best", "answers", "preferred", "equal", "population_low", "population_high", "clips_being_cut"}, OfArena, strengthTable},
	}
}

// Find returns the table of that name.
func Find(name string) (Table, bool) {
	for _, t := range Tables() {
		if t.Name == name {
			return t, true
		}
	}
	return Table{}, false
}

// rows are a table in memory.
type rows struct {
	column map[string]int
	cells  [][]any
}

// read computes a table.
func read(t Table, m Moment) (rows, error) {
	out := rows{column: map[string]int{}}
	for i, name := range t.Columns {
		out.column[name] = i
	}
	err := t.Write(m, func(cells ...any) error {
		out.cells = append(out.cells, cells)
		return nil
	})
	return out, err
}

// at returns a cell; a column that is not there is the programmer's mistake.
func (r rows) at(row int, column string) any {
	i, ok := r.column[column]
	if !ok {
		panic("figure: no column " + column)
	}
	return r.cells[row][i]
}

// number returns a cell that is a number; an empty one, and one that is not finite, which the CSV file leaves empty, is 0.
func (r rows) number(row int, column string) float64 {
	switch v := r.at(row, column).(type) {
	case float64:
		if v-v == 0 {
			return v
		}
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	return 0
}

// known reports whether a cell is a finite number.
func (r rows) known(row int, column string) bool {
	v, is := r.at(row, column).(float64)
	return is && v-v == 0
}

func (r rows) text(row int, column string) string {
	s, _ := r.at(row, column).(string)
	return s
}

// distinct returns the texts of a column, each once, in their order.
func (r rows) distinct(column string) (out []string) {
	seen := map[string]bool{}
	for i := range r.cells {
		if s := r.text(i, column); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// where returns the rows whose column has a text.
func (r rows) where(column, text string) rows {
	out := rows{column: r.column}
	for i, c := range r.cells {
		if r.text(i, column) == text {
			out.cells = append(out.cells, c)
		}
	}
	return out
}
