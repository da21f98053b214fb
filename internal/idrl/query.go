package idrl

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Identifiers have types of their own so that they cannot be swapped.
type (
	SessionID    string
	TrajectoryID string
	ClipID       string // content hash, 32 hexadecimal digits
	StepsID      string // content hash, 32 hexadecimal digits
	PolicyID     string
	QueryID      string // content hash, 32 hexadecimal digits
	AssignmentID string
	AnswerID     string // minted by the client, a UUID
	AnnotatorID  string
)

// QueryKind is the form of a question: the four of the paper, groups of clips, and whether a clip shows a success.
type QueryKind string

// Kinds of query.
const (
	CompareClips  QueryKind = "clip_comparison"
	RateClip      QueryKind = "clip_rating"
	CompareStates QueryKind = "state_comparison"
	RateState     QueryKind = "state_rating"
	GroupClips    QueryKind = "clip_group" // which of several clips is the best, and which the worst

	// JudgeClip is the kind of a session that asks whether what a clip shows succeeded. Its queries are of kind
	// RateClip, and their ratings Failure, Partial or Success.
	JudgeClip QueryKind = "clip_success"
)

// Ratings of a session of kind JudgeClip.
const (
	Failure = -1.0
	Partial = 0.0 // some of it succeeded
	Success = 1.0
)

// Verdict returns the one of Failure, Partial and Success that is nearest to a rating.
func Verdict(rating float64) float64 { return min(Success, max(Failure, math.Round(rating)+0)) } // + 0: no negative zero

// GroupSize is the number of clips of a group that people are asked about.
const GroupSize = 6

// QueryKinds returns every kind, the default first.
func QueryKinds() []QueryKind {
	return []QueryKind{CompareClips, RateClip, CompareStates, RateState, GroupClips, JudgeClip}
}

// Comparison reports whether k is about two clips.
func (k QueryKind) Comparison() bool { return k == CompareClips || k == CompareStates || k == Average }

// Group reports whether k shows several clips, of which the best and the worst are picked.
func (k QueryKind) Group() bool { return k == GroupClips }

// asks describes the answer to a question of kind k.
func (k QueryKind) asks() string {
	switch {
	case k.Group():
		return "the best and the worst of several clips"
	case k.Comparison():
		return "a choice between two clips"
	}
	return "a rating"
}

// Clips returns the number of clips that a question of kind k shows.
func (k QueryKind) Clips() int {
	switch {
	case k.Group():
		return GroupSize
	case k.Comparison():
		return 2
	}
	return 1
}

// Made returns the kind of the questions of a generation in a session that asks questions of kind
// k: a group is put together from clips that may be compared, and a verdict is a rating.
func (k QueryKind) Made() QueryKind {
	switch k { //nolint:exhaustive // the others are as they are
	case GroupClips:
		return CompareClips
	case JudgeClip:
		return RateClip
	}
	return k
}

// Asked returns the kind of the queries that a session of kind k asks.
func (k QueryKind) Asked() QueryKind {
	if k == JudgeClip {
		return RateClip
	}
	return k
}

// Name returns what a query is called in a session of kind k, which asked it: k, if it is of the kind that k asks.
func (k QueryKind) Name(q Query) string {
	if q.Kind == k.Asked() {
		return string(k)
	}
	return string(q.Kind)
}

// Still reports whether k asks about states and not about motion.
func (k QueryKind) Still() bool { return k == CompareStates || k == RateState }

// Valid reports whether k is a kind of query.
func (k QueryKind) Valid() bool { return slices.Contains(QueryKinds(), k) }

// A Query asks an annotator about one, two or GroupSize clips. It has neither a reward nor
// features: its vector depends on the representation in use.
type Query struct {
	ID    QueryID
	Kind  QueryKind
	Clips []ClipID // one for a rating; a then b for a comparison; a to f for a group
}

// Place returns the index of the clip that side names, -1 if q has no such clip.
func (q Query) Place(side Side) int {
	if k := place(side); k < len(q.Clips) {
		return k
	}
	return -1
}

// place returns the place that side names, -1 if it is no name.
func place(side Side) int {
	if len(side) != 1 || side[0] < 'a' {
		return -1
	}
	return int(side[0] - 'a')
}

// A QueryVector is a query under a representation.
type QueryVector struct {
	Query

	// X is the linear functional of θ that the answer is about, length d. For a comparison it is
	// Φ_a − Φ_b. For a rating it is the mean of φ over the steps shown, so that the scale does not
	// depend on the length of the clip. For a group it is nil.
	X []float64

	// Mid is ½ (Φ_a + Φ_b) of a comparison, the functional that a remark is about, in the unit of
	// X; nil if the session takes no remarks.
	Mid []float64
	// Each has Φ of every clip of a group, length d each; nil for other kinds.
	Each [][]float64
}

// Average is the kind of question that a remark answers: whether the average of the two
// clips of a comparison is better (a) or worse (b) than a clip whose reward is zero. It is
// never asked alone, and is none of QueryKinds.
const Average QueryKind = "average"

// NewComparison returns the query that compares a with b, which must both be
// stills or both be moving.
func NewComparison(a, b Clip) Query {
	if (a.Steps == 0) != (b.Steps == 0) {
		panic("idrl: a still compared with a moving clip")
	}
	kind := CompareClips
	if a.Steps == 0 {
		kind = CompareStates
	}
	return Query{ID: queryID(kind, a.ID, b.ID), Kind: kind, Clips: []ClipID{a.ID, b.ID}}
}

// NewRating returns the query that rates c.
func NewRating(c Clip) Query {
	kind := RateClip
	if c.Steps == 0 {
		kind = RateState
	}
	return Query{ID: queryID(kind, c.ID, ""), Kind: kind, Clips: []ClipID{c.ID}}
}

// NewGroup returns the query about the best and the worst of clips, which it puts in order:
// the same clips are the same question. It panics unless they are GroupSize different ones.
func NewGroup(clips ...ClipID) Query {
	ids := slices.Compact(slices.Sorted(slices.Values(clips)))
	if len(clips) != GroupSize || len(ids) != GroupSize {
		panic("idrl: a group of another number of clips, or with one of them twice")
	}
	h := sha256.New()
	h.Write([]byte(GroupClips))
	for _, id := range ids {
		h.Write([]byte("|" + id))
	}
	return Query{ID: QueryID(hex.EncodeToString(h.Sum(nil)[:16])), Kind: GroupClips, Clips: ids}
}

// ComparisonVector returns NewComparison(a, b) under the representation in which the
// features of the clips are their Phi.
func ComparisonVector(a, b Clip) QueryVector {
	x := make([]float64, len(a.Phi))
	floats.SubTo(x, a.Phi, b.Phi)
	mid := floats.AddTo(make([]float64, len(a.Phi)), a.Phi, b.Phi)
	floats.Scale(0.5, mid)
	return QueryVector{Query: NewComparison(a, b), X: x, Mid: mid}
}

// RatingVector returns NewRating(c) under the representation in which the features of
// c are its Phi.
func RatingVector(c Clip) QueryVector {
	x := slices.Clone(c.Phi)
	floats.Scale(1/float64(max(1, c.Steps)), x)
	return QueryVector{Query: NewRating(c), X: x}
}

// Turned reports whether the clips of a comparison are in the other order than in the first form of
// the same question: when a question is repeated its clips may change places, and answers name them
// a and b in that order. Of each pair the clip with the lesser ID counts as the first.
func (q Query) Turned() bool {
	return q.Kind.Comparison() && len(q.Clips) == 2 && q.Clips[0] > q.Clips[1]
}

// PairID returns the ID of the comparison of two moving clips.
func PairID(a, b ClipID) QueryID { return queryID(CompareClips, a, b) }

// queryID is the same for (a, b) and (b, a): they are one question.
func queryID(kind QueryKind, a, b ClipID) QueryID {
	sum := sha256.Sum256([]byte(string(kind) + "|" + string(min(a, b)) + "|" + string(max(a, b))))
	return QueryID(hex.EncodeToString(sum[:16]))
}
