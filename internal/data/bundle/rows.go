package bundle

import (
	"math"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// The rows of the tables. docs/datasets.md describes their columns.

type segmentRow struct {
	Segment    string    `parquet:"segment_id"`
	Episode    *string   `parquet:"episode_id,optional"`
	Env        string    `parquet:"env_id,dict"`
	Trajectory string    `parquet:"trajectory"`
	Policy     *string   `parquet:"policy_id,optional"`
	Start      int64     `parquet:"start_step"`
	End        int64     `parquet:"end_step"`
	Steps      int64     `parquet:"n_steps"`
	Features   []float64 `parquet:"features,list"`
	Drawn      bool      `parquet:"drawn"`
}

type trajectoryRow struct {
	Episode      string      `parquet:"episode_id"`
	Env          string      `parquet:"env_id,dict"`
	Version      int64       `parquet:"env_version"`
	Seed         uint64      `parquet:"seed"`
	Number       uint64      `parquet:"episode"`
	Steps        int64       `parquet:"n_steps"`
	Terminated   bool        `parquet:"terminated"`
	Observations [][]float32 `parquet:"observations,list" parquet-element:",list"`
	Actions      [][]float32 `parquet:"actions,list" parquet-element:",list"`
	Features     [][]float64 `parquet:"features,list" parquet-element:",list"`
}

type queryRow struct {
	Assignment string     `parquet:"assignment_id"`
	Number     int64      `parquet:"n"`
	Query      string     `parquet:"query_id"`
	Session    string     `parquet:"session_id,dict"`
	Kind       string     `parquet:"kind,dict"`
	Annotator  string     `parquet:"annotator_id,dict"`
	Segments   []string   `parquet:"segments,list"`
	Purpose    string     `parquet:"purpose,dict"`
	Reopens    *string    `parquet:"reopens,optional"`
	Expected   *string    `parquet:"gold_expected,optional"`
	ExpectedR  *float64   `parquet:"gold_rating,optional"`
	Strategy   string     `parquet:"strategy,dict"`
	Condition  *string    `parquet:"condition,optional,dict"`
	First      *string    `parquet:"policy_1,optional"`
	Second     *string    `parquet:"policy_2,optional"`
	Rivals     int64      `parquet:"rivals"`
	PairStd    *float64   `parquet:"pair_std,optional"`
	Info       *float64   `parquet:"info_nats,optional"`
	Generation int64      `parquet:"generation"`
	Belief     int64      `parquet:"belief_seq"`
	Answerable *float64   `parquet:"answerable,optional"`
	Apart      *float64   `parquet:"apart,optional"`
	Left       *string    `parquet:"left,optional"`
	Order      *string    `parquet:"shown_order,optional"`
	Issued     *time.Time `parquet:"issued_at,optional,timestamp(millisecond)"`
}

type labelRow struct {
	Label        string     `parquet:"label_id"`
	Seq          int64      `parquet:"seq"`
	Session      string     `parquet:"session_id,dict"`
	Assignment   string     `parquet:"assignment_id"`
	Query        string     `parquet:"query_id"`
	Kind         string     `parquet:"kind,dict"`
	Annotator    string     `parquet:"annotator_id,dict"`
	A            string     `parquet:"segment_a"`
	B            *string    `parquet:"segment_b,optional"`
	Segments     []string   `parquet:"segments,list"`
	Choice       string     `parquet:"choice,dict"`
	ProbA        *float64   `parquet:"prob_a,optional"`
	Rating       *float64   `parquet:"rating,optional"`
	WrongMS      *int64     `parquet:"wrong_ms,optional"`
	Best         *string    `parquet:"best_segment,optional"`
	Worst        *string    `parquet:"worst_segment,optional"`
	Much         *bool      `parquet:"much,optional"`
	Remark       *string    `parquet:"remark,optional,dict"`
	Reason       *string    `parquet:"reason,optional,dict"`
	Current      bool       `parquet:"is_current"`
	Undone       bool       `parquet:"undone"`
	LeftOut      bool       `parquet:"left_out"`
	Turned       bool       `parquet:"turned"`
	Gold         bool       `parquet:"gold"`
	GoldRight    *bool      `parquet:"gold_right,optional"`
	Condition    *string    `parquet:"condition,optional,dict"`
	Left         *string    `parquet:"left,optional,dict"`
	Order        *string    `parquet:"shown_order,optional,dict"`
	Shown        *time.Time `parquet:"shown_at,optional,timestamp(millisecond)"`
	Answered     *time.Time `parquet:"answered_at,optional,timestamp(millisecond)"`
	Received     *time.Time `parquet:"received_at,optional,timestamp(millisecond)"`
	ResponseMS   int64      `parquet:"response_ms"`
	HiddenMS     int64      `parquet:"hidden_ms"`
	Loops        int64      `parquet:"loops"`
	Input        *string    `parquet:"input,optional,dict"`
	Instructions int64      `parquet:"instructions_version"`
	Consent      int64      `parquet:"consent_version"`
	Late         bool       `parquet:"late"`
	Doubts       *string    `parquet:"doubts,optional,dict"`
}

type comparisonRow struct {
	Label      string    `parquet:"label_id"`
	Part       *int64    `parquet:"group_part,optional"`
	Query      string    `parquet:"query_id"`
	Annotator  string    `parquet:"annotator_id,dict"`
	A          string    `parquet:"segment_a"`
	B          string    `parquet:"segment_b"`
	Choice     string    `parquet:"choice,dict"`
	ProbA      float64   `parquet:"prob_a"`
	ResponseMS int64     `parquet:"response_ms"`
	Gold       bool      `parquet:"gold"`
	Turned     bool      `parquet:"turned"`
	Condition  *string   `parquet:"condition,optional,dict"`
	Split      *string   `parquet:"split,optional,dict"`
	SplitPair  *string   `parquet:"split_by_pair,optional,dict"`
	FeaturesA  []float64 `parquet:"features_a,list"`
	FeaturesB  []float64 `parquet:"features_b,list"`
}

type annotatorRow struct {
	Annotator   string     `parquet:"annotator_id"`
	Joined      *time.Time `parquet:"joined_at,optional,timestamp(millisecond)"`
	Removed     *time.Time `parquet:"removed_at,optional,timestamp(millisecond)"`
	LeftOut     bool       `parquet:"left_out"`
	Turned      int64      `parquet:"turned_to_seq"`
	Consent     int64      `parquet:"consent_version"`
	ConsentedAt *time.Time `parquet:"consented_at,optional,timestamp(millisecond)"`
	Read        int64      `parquet:"instructions_version"`
	Labels      int64      `parquet:"n_labels"`
	Undone      int64      `parquet:"n_undone"`
	Decisive    int64      `parquet:"n_decisive"`
	Equal       int64      `parquet:"n_equal"`
	Unclear     int64      `parquet:"n_unclear"`
	Gold        int64      `parquet:"n_gold"`
	GoldRight   int64      `parquet:"n_gold_right"`
	Left        int64      `parquet:"n_chose_left"`
	MedianMS    *int64     `parquet:"median_response_ms,optional"`
}

type policyRow struct {
	Policy     string    `parquet:"policy_id"`
	Generation *int64    `parquet:"generation,optional"`
	InUse      bool      `parquet:"in_use"`
	Origin     string    `parquet:"origin,dict"`
	Theta      []float64 `parquet:"theta,list"`
	Mu         []float64 `parquet:"features_mean,list"`
	Params     []float64 `parquet:"params,list"`
	Segment    *string   `parquet:"segment_id,optional"`
	Episodes   []string  `parquet:"episode_ids,list"`
	Acted      *string   `parquet:"acted_policy,optional,dict"`
	Task       *string   `parquet:"acted_task,optional,dict"`
	Start      *string   `parquet:"acted_start,optional"`
}

type posteriorRow struct {
	Seq            int64     `parquet:"seq"`
	Definition     int64     `parquet:"definition"`
	Representation int64     `parquet:"representation"`
	Mean           []float64 `parquet:"mean,list"`
	Cov            []float64 `parquet:"cov,list"`
	Policies       *int64    `parquet:"regret_policies,optional"`
	Within         *float64  `parquet:"regret_within,optional"`
	Bound          *float64  `parquet:"regret_bound,optional"`
	Unbeaten       *float64  `parquet:"regret_unbeaten,optional"`
	Regret         *float64  `parquet:"regret_mean,optional"`
	Span           *float64  `parquet:"regret_span,optional"`
}

type trainingRow struct {
	Kind     string     `parquet:"kind,dict"`
	BasedOn  int64      `parquet:"based_on"`
	Adopted  int64      `parquet:"adopted_seq"`
	Version  *int64     `parquet:"version,optional"`
	Policies *int64     `parquet:"n_policies,optional"`
	Engine   *string    `parquet:"engine,optional"`
	At       *time.Time `parquet:"created_at,optional,timestamp(millisecond)"`
}

type eventRow struct {
	Seq       int64      `parquet:"seq"`
	Event     string     `parquet:"event,dict"`
	Label     *string    `parquet:"label_id,optional"`
	Annotator *string    `parquet:"annotator_id,optional,dict"`
	Received  *time.Time `parquet:"received_at,optional,timestamp(millisecond)"`
}

// unless returns v, nil if it is absent.
func unless[T any](absent bool, v T) *T {
	if absent {
		return nil
	}
	return &v
}

// given returns s as text, nil if it is empty.
func given[S ~string](s S) *string { return unless(s == "", string(s)) }

// when returns t, nil if it is zero.
func when(t time.Time) *time.Time { return unless(t.IsZero(), t.UTC()) }

// number returns v, nil if it is none or absent.
func number(absent bool, v float64) *float64 {
	return unless(absent || math.IsNaN(v) || math.IsInf(v, 0), v)
}

func names[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

func newLabelRow(s *idrl.SessionSpec, r *record.Labelled) labelRow {
	a, clips := &r.Answer, names(r.Query.Clips)
	p, stated := r.ProbA()
	out := labelRow{
		Label: string(a.ID), Seq: a.Seq, Session: string(s.ID), Assignment: string(a.Assignment), Query: string(r.Query.ID), Kind: s.Kind.Name(r.Query),
		Annotator: string(a.Annotator), A: clips[0], Segments: clips, Choice: string(a.Choice), ProbA: unless(!stated, p),
		Rating: unless(a.Choice != idrl.Rated, a.Rating), WrongMS: unless(a.WrongMS == 0, a.WrongMS), Remark: given(a.Remark), Reason: given(a.Reason),
		Current: !r.Withdrawn && !r.LeftOut, Undone: r.Withdrawn, LeftOut: r.LeftOut, Turned: r.Turned, Gold: r.Gold, GoldRight: unless(!r.GoldKnown, r.GoldRight), Condition: given(r.Condition),
		Left: given(a.Left), Order: given(a.Order), Shown: when(a.ShownAt), Answered: when(a.AnsweredAt), Received: when(a.ReceivedAt),
		ResponseMS: a.ResponseMS, HiddenMS: a.HiddenMS, Loops: a.Loops, Input: given(a.Input), Instructions: a.Instructions, Consent: a.Consent,
		Late: a.Late, Doubts: given(a.Doubts.String()),
	}
	if len(clips) == 2 {
		out.B = &clips[1]
		out.Much = unless(!s.Strength || a.Choice != idrl.ChoseA && a.Choice != idrl.ChoseB, a.Much)
	}
	if a.Choice == idrl.BestWorst {
		out.Best, out.Worst = &clips[r.Query.Place(a.Best)], &clips[r.Query.Place(a.Worst)]
	}
	return out
}

// strategyOf says how a question was chosen. One whose sides are not known was asked elsewhere.
func strategyOf(s *idrl.SessionSpec, a *record.Assignment) string {
	if a.Query.Kind.Comparison() && a.Left == "" {
		return idrl.ImportedInput
	}
	return record.StrategyOf(*s, a.Condition)
}

func newQueryRow(s *idrl.SessionSpec, a *record.Assignment, again bool, gold map[idrl.QueryID]record.Known) queryRow {
	w := &a.Why
	out := queryRow{
		Assignment: string(a.ID), Number: a.N, Query: string(a.Query.ID), Session: string(s.ID), Kind: s.Kind.Name(a.Query), Annotator: string(a.Annotator),
		Segments: names(a.Query.Clips), Purpose: "main", Reopens: given(a.Reopens), Strategy: strategyOf(s, a), Condition: given(a.Condition),
		First: given(w.First), Second: given(w.Second), Rivals: int64(w.Rivals), PairStd: number(w.First == "", w.PairStd), Info: number(w.First == "", w.Info),
		Generation: w.BasedOn, Belief: w.AfterSeq, Answerable: number(w.Answerable == 0, w.Answerable), Apart: number(w.Answerable == 0, w.Apart),
		Left: given(a.Left), Order: given(a.Order), Issued: when(a.IssuedAt),
	}
	switch k, known := gold[a.Query.ID]; {
	case a.Gold > 0:
		out.Purpose = "gold"
		if known {
			out.Expected, out.ExpectedR = given(k.ChoiceIn(a.Query)), unless(k.Choice != idrl.Rated, k.Rating)
		}
	case again:
		out.Purpose = "repeat"
	case w.Purpose == record.ForDuel:
		out.Purpose = "duel"
	}
	return out
}

// newComparisonRow takes an answer as it counts.
func newComparisonRow(r *record.Labelled, split, pair string) comparisonRow {
	p, _ := r.Answer.ProbA()
	return comparisonRow{
		Label: string(r.Answer.ID), Part: unless(r.Part == 0, int64(r.Part)), Query: string(r.Query.ID), Annotator: string(r.Answer.Annotator),
		A: string(r.Query.Clips[0]), B: string(r.Query.Clips[1]), Choice: string(r.Answer.Choice), ProbA: p, ResponseMS: r.Answer.ResponseMS,
		Gold: r.Gold, Turned: r.Turned, Condition: given(r.Condition), Split: given(split), SplitPair: given(pair), FeaturesA: r.Clips[0].Phi, FeaturesB: r.Clips[1].Phi,
	}
}

func newEventRow(a *idrl.Answer) (out eventRow, ok bool) {
	out = eventRow{Seq: a.Seq, Event: string(a.Choice), Annotator: given(a.Annotator), Received: when(a.ReceivedAt)}
	switch {
	case a.Choice == idrl.Erased:
		return out, false
	case a.Undoes != "":
		out.Event, out.Label = "undo", given(a.Undoes)
	case a.Reply():
		out.Event, out.Label = "answer", given(a.ID)
	}
	return out, true
}

// A tally gathers what annotators.parquet says of one annotator.
type tally struct {
	row   annotatorRow
	times []int32 // of response, ms
}

func (t *tally) add(r *record.Labelled) {
	t.row.Labels++
	if r.Withdrawn {
		t.row.Undone++
		return
	}
	switch a := &r.Answer; {
	case a.Choice == idrl.ChoseA || a.Choice == idrl.ChoseB:
		t.row.Decisive++
		if string(a.Choice) == string(a.Left) {
			t.row.Left++
		}
	case a.Choice == idrl.Equal:
		t.row.Equal++
	case !a.Informative():
		t.row.Unclear++
	}
	if r.GoldKnown {
		t.row.Gold++
		if r.GoldRight {
			t.row.GoldRight++
		}
	}
	if r.Answer.Input == idrl.ImportedInput {
		return
	}
	t.times = append(t.times, int32(min(max(r.Answer.ResponseMS, 0), math.MaxInt32))) //nolint:gosec // within its range
}

// finish completes the row for m.
func (t *tally) finish(m *record.Member) annotatorRow {
	t.row.Annotator, t.row.Joined, t.row.Removed, t.row.LeftOut = string(m.ID), when(m.JoinedAt), when(m.RevokedAt), m.LeftOut
	t.row.Turned = m.Turned
	t.row.Consent, t.row.ConsentedAt, t.row.Read = m.Agreed, when(m.AgreedAt), m.Read
	if n := len(t.times); n > 0 {
		slices.Sort(t.times)
		median := (int64(t.times[(n-1)/2]) + int64(t.times[n/2])) / 2
		t.row.MedianMS = &median
	}
	return t.row
}
