package episodes

import (
	"cmp"
	"slices"
	"time"

	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
)

// The rows of the tables. docs/datasets.md describes their columns.

type preferenceRow struct {
	Label     string    `parquet:"label_id"`
	Part      *int64    `parquet:"group_part,optional"`
	Session   string    `parquet:"session_id,dict"`
	Annotator string    `parquet:"annotator_id,dict"`
	Received  time.Time `parquet:"received_at,timestamp(millisecond)"`
	A         int64     `parquet:"episode_index_a"`
	StartA    int64     `parquet:"start_frame_a"`
	StepsA    int64     `parquet:"n_steps_a"`
	B         int64     `parquet:"episode_index_b"`
	StartB    int64     `parquet:"start_frame_b"`
	StepsB    int64     `parquet:"n_steps_b"`
	NameA     string    `parquet:"episode_name_a,dict"`
	NameB     string    `parquet:"episode_name_b,dict"`
	Choice    string    `parquet:"choice,dict"`
	ProbA     *float64  `parquet:"prob_a,optional"`
	Chosen    *int64    `parquet:"chosen_episode_index,optional"`
	Rejected  *int64    `parquet:"rejected_episode_index,optional"`
	Turned    bool      `parquet:"turned"`
	Split     *string   `parquet:"split,optional,dict"`
	SplitPair *string   `parquet:"split_by_pair,optional,dict"`
}

type episodeRow struct {
	Index    int64    `parquet:"episode_index"`
	Name     string   `parquet:"episode_name"`
	Policy   *string  `parquet:"policy,optional,dict"`
	Task     *string  `parquet:"task,optional,dict"`
	Start    *string  `parquet:"start,optional,dict"`
	Steps    int64    `parquet:"n_steps"`
	Score    *float64 `parquet:"score,optional"`
	ScoreStd *float64 `parquet:"score_std,optional"`
	Wins     int64    `parquet:"wins"`
	Losses   int64    `parquet:"losses"`
	Ties     int64    `parquet:"ties"`
	Answers  int64    `parquet:"n_answers"`
	Good     *bool    `parquet:"good,optional"`
	Success  *bool    `parquet:"success,optional"`
	Verdict  *string  `parquet:"verdict,optional,dict"`
	Verdicts int64    `parquet:"verdicts"`
	Wrong    *int64   `parquet:"wrong_frame,optional"`
}

// A preferenceLine is a line of preferences.jsonl.
type preferenceLine struct {
	bundle.Preference
	ChosenPiece   piece `json:"chosen_clip"`
	RejectedPiece piece `json:"rejected_clip"`
}

// A piece is the part of an episode that a clip shows.
type piece struct {
	Episode int64 `json:"episode_index"`
	Start   int64 `json:"start_frame"`
	Steps   int64 `json:"n_steps"`
}

func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// preference returns the row of an answer about clips of the episodes at two places.
func (w *writer) preference(c bundle.Comparison, at [2]int) preferenceRow {
	a, b := &w.episodes[at[0]], &w.episodes[at[1]]
	out := preferenceRow{
		Label: string(c.Answer.ID), Session: string(w.spec.ID), Annotator: string(c.Answer.Annotator), Received: c.Answer.ReceivedAt.UTC(),
		A: a.Index, StartA: int64(c.Clips[0].Start), StepsA: int64(c.Clips[0].Steps), NameA: a.Name,
		B: b.Index, StartB: int64(c.Clips[1].Start), StepsB: int64(c.Clips[1].Steps), NameB: b.Name,
		Choice: string(c.Answer.Choice), Turned: c.Turned, Split: given(c.Split), SplitPair: given(c.SplitPair),
	}
	if c.Part > 0 {
		part := int64(c.Part)
		out.Part = &part
	}
	if p, ok := c.Answer.ProbA(); ok {
		out.ProbA = &p
	}
	switch c.Answer.Choice { //nolint:exhaustive // others prefer neither
	case idrl.ChoseA:
		out.Chosen, out.Rejected = &a.Index, &b.Index
	case idrl.ChoseB:
		out.Chosen, out.Rejected = &b.Index, &a.Index
	}
	return out
}

// markGood says of each episode with a score whether it is among the best of its task, and returns the indexes of those, sorted: the best share
// of them, or fewer where some at the edge have equal scores, of which all are good or none; the best score always is.
func markGood(list []episodeRow, share float64) []int64 {
	tasks := map[string][]*episodeRow{}
	for i := range list {
		if e := &list[i]; e.Score != nil {
			task := ""
			if e.Task != nil {
				task = *e.Task
			}
			tasks[task] = append(tasks[task], e)
		}
	}
	good := []int64{}
	for _, of := range tasks { // their order does not matter: the result is sorted
		slices.SortFunc(of, func(a, b *episodeRow) int { return cmp.Compare(*b.Score, *a.Score) })
		n := 0
		for first := 0; first < len(of); {
			end := first + 1
			for end < len(of) && *of[end].Score == *of[first].Score {
				end++
			}
			if first > 0 && float64(end) > share*float64(len(of))+1e-9 { // the product may be rounded down from a whole number
				break
			}
			n, first = end, end
		}
		for i, e := range of {
			is := i < n
			if e.Good = &is; is {
				good = append(good, e.Index)
			}
		}
	}
	slices.Sort(good)
	return good
}
