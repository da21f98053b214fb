package view

import (
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/people/quality"
)

// Why a policy is recommended where the lead moves by duels.
const (
	LedFirst  = "first" // it led after the first answers, and no other has won a duel with it
	LedByDuel = "duel"  // people preferred it to the one before, or could not tell the two apart
)

// Estimate is a number with its uncertainty.
type Estimate struct {
	Name  string // of a policy its Origin
	Title string // name of a policy for people; empty unless it has one
	ID    string
	Mean  float64
	Std   float64
	Clip  idrl.ClipID // of a clip that shows it; empty where there is none
	Draws int         // candidates in use that are this policy; 0 if it is an earlier one

	// Of a policy with known single episodes: their number, and the standard deviation of their
	// returns under the posterior mean, in the unit of Mean. Half of it is subtracted when policies
	// are ranked.
	Episodes int
	Spread   float64
}

// Training is the state of the training in the background.
type Training struct {
	Running     bool  // or waiting for the trainer
	BasedOn     int64 // posterior from which it trains
	Done, Total int
	What        string // for people: "solving candidate 3 of 6"
	Left        string // for people, by the speed so far: "about 20 seconds"; empty if that is not known
	Outlook     idrl.Outlook
	FollowUp    bool   // it improves the generation in use while no training is due (TrainJob.From)
	More        bool   // further clips of an arena are to be cut, about which people are asked later
	Cancel      bool   // it can be cancelled
	Fixed       string // for people, why it cannot
	Cancelled   bool   // the last training was cancelled, and the next one begins after the next answer
	Err         string // why the last training failed; empty if it did not
}

// Status is the state of a session for researchers. It is immutable.
type Status struct {
	Session    idrl.SessionID
	State      record.SessionState
	Seq        int64 // of the last log row
	Answers    int   // effective and informative
	Skipped    int   // effective, but without information: skipped, can't tell, or the clip failed
	Budget     int
	Decided    bool  // the test of an arena is over
	BasedOn    int64 // of the generation in use; -1 if there is none yet
	Training   Training
	Learning   Learning
	Regret     []idrl.Regret // by Seq; the last is about the present posterior and policies; empty unless SessionSpec.StatesRegret
	Basis      Basis         // of the last Regret
	Recordings *Recordings   // what the session is about; nil where it is not about imported rollouts
	Return     string        // by which policies of rollouts that were imported are compared: MeanReturn or SumReturn; empty for others
	Stopping   stopping.Stopping
	Dropped    int           // number of earlier policies that are no longer compared, because the archive has a limited size
	Best       idrl.PolicyID // the recommended policy, which the last Regret, if any, is about; empty if there is none
	Led        string        // why it is recommended: LedFirst or LedByDuel; empty if its expected return is the highest
	Candidates []Estimate    // predicted returns, each against the average candidate, as shares of the last Regret's Span; without Regret as means in the unit of the reward, without Std
	Weights    []Estimate    // of the features, in standard deviations of their prior, so that they can be compared; like Candidates and Regret on average over the noise of answers
	Network    Network       // where the reward is a network
	Open       []record.Assignment
	Recent     []Asked                  // the last answers, newest first
	Titles     map[idrl.PolicyID]string // of the policies that Open and Recent are about, of those that have names
	Annotators []quality.AnnotatorStats
}

// Network is the state of the reward network, in a session that has one.
type Network struct {
	Used    bool  // the session has the model NetworkModel
	Version int64 // of the network in use; 0 before the first fit
	BasedOn int64 // log row up to which it saw the answers
	Fitting bool  // another is being fitted, or waits for that

	// Predictions are of the comparisons that count, each from the posterior before it.
	Predictions Predictions
}

// Predictions compares what was predicted of comparisons with what was answered.
type Predictions struct {
	Answers int
	LogLoss float64 // mean of −log p of the answer, nats; log 3 for three equally probable answers
	ECE     float64 // expected calibration error, in [0, 1]
	Right   float64 // share of answers that were the most probable
}

// Asked is an answered question, for researchers.
type Asked struct {
	Answer  idrl.Answer
	Undone  bool
	LeftOut bool // the annotator is
	Turned  bool // Answer, which is as it was given, counts turned
	Why     record.Why
	Clips   []idrl.ClipID
}

// Recordings says what is known of imported rollouts, and is the same as long as the session lasts.
type Recordings struct {
	Policies int    // that acted; each episode is one where Named is false
	Episodes int    // rollouts
	Named    bool   // the policies have names
	RewardOf string // of what the reward is a weighted sum: "2 observations, standardised"
}

// Basis is the set of policies with which a Regret compares the best one.
type Basis string

// Bases of a Regret.
const (
	AgainstOptima  Basis = "optima"  // found by an exact solver for draws from the prior and from posteriors of this session's answers
	AgainstPool    Basis = "pool"    // solved for draws from the prior and from the posteriors so far
	AgainstSearch  Basis = "search"  // found by a search of bounded length
	AgainstEarlier Basis = "earlier" // candidates alone: the session was begun before the pool was kept
	AgainstUploads Basis = "uploads" // the clips that were uploaded
	AgainstGiven   Basis = "given"   // the policies of rollouts that were imported
)
