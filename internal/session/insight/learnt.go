package insight

import (
	"tiebreak/internal/idrl"
)

// Learnt shows what a session has learnt: clips of policies, of what the reward likes, and of the
// question that it would ask. It is immutable.
type Learnt struct {
	Seq      int64   // of the last log row in it
	BasedOn  int64   // of the generation in use; -1 if there is none
	Policies []Actor // that have clips; the recommended one first, then the one that was recommended before the first answer
	Tastes   []Taste // see Tastes
	Next     *Next   // nil where there is nothing to ask
	Recorded bool    // the policies acted in recordings
}

// A Group says which of the policies an Actor is one of.
type Group string

// Groups of policies.
const (
	Recommended Group = "recommended" // now
	AtFirst     Group = "first"       // was recommended before the first answer
	InUse       Group = "in use"      // a candidate
	Prepared    Group = "prepared"    // before the first answer
	Earlier     Group = "earlier"     // was a candidate
)

// An Actor is a policy with its clips.
type Actor struct {
	ID     idrl.PolicyID
	Title  string // for people; empty unless it has one
	Origin idrl.Origin
	Group  Group
	Clips  []Moment // by Episode and Start, at least one
}

// A Moment is a clip by what it begins with. Two policies that were trained for a session begin their n-th episodes in one
// state, except that behaviours of a library were recorded before.
type Moment struct {
	Clip    idrl.ClipID
	Episode int // of the policy, from 0
	Start   int // its first step

	// Begins names the task and the start of the episode. Episodes with equal Begins began alike. It is empty where the recordings name no start.
	Begins string
}

// Next is the question that an annotator who joins now would be asked for its value.
type Next struct {
	Query         idrl.Query // two clips or one
	First, Second Policy     // that the answer tells apart; their IDs are empty where the strategy compares no policies
	Rivals        int        // policies that First is compared with
	Better        float64    // of a comparison, the probability under the posterior that the first clip has the higher reward
}
