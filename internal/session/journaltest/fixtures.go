package journaltest

import (
	"fmt"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// T0 is when everything begins. It has digits in every place that a store could lose.
var T0 = time.Date(2026, 5, 4, 3, 2, 1, 123456789, time.UTC)

// Clip returns a moving clip with features phi.
func Clip(name string, phi ...float64) idrl.Clip {
	return idrl.Clip{ID: idrl.ClipID(name), From: "t-" + idrl.TrajectoryID(name), Start: 1, Steps: 4, Phi: phi, Media: []byte("media of " + name)}
}

// Generation returns three candidates with a clip each, compared in pairs. The first
// generation brings a pool.
func Generation(basedOn int64) idrl.Generation {
	g := idrl.Generation{BasedOn: basedOn, Clips: map[idrl.ClipID]idrl.Clip{}}
	var cs []idrl.Clip
	for k, phi := range [][]float64{{1, 2}, {-0.5, 1e-300}, {3, 0.1}} {
		c := Clip(fmt.Sprintf("c%d", k), phi...)
		cs, g.Clips[c.ID] = append(cs, c), c
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.PolicyID(fmt.Sprintf("g%d.p%d", basedOn, k)), Origin: idrl.FromSample,
			Params: []float64{float64(k), 7}, Theta: []float64{0.25, -1}, Mu: phi, Mus: [][]float64{{1, 2}, {3, 4.5}}[:k], Clip: c.ID, Rollouts: []idrl.StepsID{stepsName(basedOn), stepsName(0)}[:k],
		})
	}
	g.Candidates[2].Origin = idrl.FromMean
	g.Steps = map[idrl.StepsID][]byte{stepsName(basedOn): {byte(basedOn), 0, 255}}
	if basedOn == 0 {
		g.Pool = []idrl.Candidate{
			{ID: "pool.p0", Origin: idrl.FromPrior, Mu: []float64{4, -4}, Clip: "c1"}, {ID: "pool.p1", Origin: idrl.FromPrior, Mu: []float64{0, 8}, Rollouts: []idrl.StepsID{stepsName(0)}},
		}
	}
	g.Queries = []idrl.Query{idrl.NewComparison(cs[0], cs[1]), idrl.NewComparison(cs[2], cs[0]), idrl.NewRating(cs[1])}
	return g
}

// Extended returns Generation(basedOn) with n further candidates, each with a clip and a
// query of its own, which took the place of an old one.
func Extended(basedOn int64, n int) idrl.Generation {
	g := Generation(basedOn)
	g.Steps = nil
	for k := 3; k < 3+n; k++ {
		phi := []float64{float64(k), -1.5}
		c := Clip(fmt.Sprintf("c%d", k), phi...)
		c.Raw = stepsName(100 + int64(k))
		g.Clips[c.ID] = c
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.PolicyID(fmt.Sprintf("g%d.p%d", basedOn, k)), Origin: idrl.FromMean,
			Params: []float64{float64(k), 7}, Theta: []float64{0.25, -1}, Mu: phi, Mus: [][]float64{phi}, Clip: c.ID, Rollouts: []idrl.StepsID{c.Raw},
			Acted: idrl.Acted{Policy: "act", Task: "open the drawer", Start: fmt.Sprint(k)},
		})
		g.Queries = append([]idrl.Query{idrl.NewComparison(c, g.Clips["c0"])}, g.Queries[:len(g.Queries)-1]...)
		g.Steps = map[idrl.StepsID][]byte{c.Raw: {byte(k), 1, 254}}
	}
	return g
}

// stepsName returns a name that raw steps can have.
func stepsName(n int64) idrl.StepsID { return idrl.StepsID(fmt.Sprintf("%032d", n)) }

// Fit returns features that were learnt.
func Fit(version int64) record.LearntFit {
	return record.LearntFit{Learner: "waves", Version: version, BasedOn: 10 * version, AdoptedAt: 10*version + 2, Seed: 1<<63 + 5, Content: []byte{byte(version), 0, 255}}
}

// Assignment returns assignment number n, which asks q of who.
func Assignment(n int64, q idrl.Query, who idrl.AnnotatorID) record.Assignment {
	return record.Assignment{
		ID: idrl.AssignmentID(fmt.Sprintf("s%d", n)), N: n, Query: q, Annotator: who, Left: idrl.SideB, Gold: n % 2,
		IssuedAt: T0, LeaseUntil: T0.Add(time.Minute),
		Why: record.Why{
			First: "g0.p0", Second: "g0.p2", Rivals: 4, PairStd: 0.5, Info: 0.125, BasedOn: 0, AfterSeq: n - 1,
			Answerable: 0.875, Apart: 1.1, MotionA: 0.3, MotionB: 2.25, Lead: 0.7, Seconds: 2.5,
			Shares:  [record.MaxShares]record.Share{{Policy: "g0.p2", Part: 0.5}, {Policy: "pool.p1", Part: 1.0 / 3}},
			Purpose: record.ForRepeat, Best: [1 + record.MaxShares]record.Chance{record.ChanceOf(0.62), record.ChanceOf(0), record.ChanceOf(1)},
		},
	}
}

// Answer returns the log row seq, a reply to a.
func Answer(seq int64, a record.Assignment) idrl.Answer {
	return idrl.Answer{
		ID: idrl.AnswerID(fmt.Sprintf("id%d", seq)), Seq: seq, Assignment: a.ID, Query: a.Query.ID, Annotator: a.Annotator,
		Choice: idrl.ChoseA, Much: seq%2 == 0, Remark: []idrl.Remark{"", idrl.BothBad, idrl.BothGood}[seq%3], Left: a.Left, ShownAt: T0, AnsweredAt: T0.Add(time.Second), ReceivedAt: T0.Add(2 * time.Second),
		WrongMS: 10 * seq, ResponseMS: 900, HiddenMS: 100, Loops: 2, Input: "keyboard", Instructions: 1, Late: true,
		Doubts: idrl.DoubtSide | idrl.DoubtHaste,
	}
}

// Snapshot returns what goes with the log row seq.
func Snapshot(seq int64) record.Snapshot {
	return record.Snapshot{Seq: seq, Definition: record.PosteriorDefinition, Mean: []float64{float64(seq), -0.5}, Foretold: []float64{0.5, 0.25, 0.25}, Belief: []byte{byte(seq), 0, 255}, Slot: int(seq % 2), Regret: idrl.Regret{Seq: seq, Definition: idrl.RegretDefinition, Policies: 9, Within: 0.75, Bound: 0.25, Unbeaten: 0.5, Mean: 0.125, Span: 30}}
}

// Spec returns the specification of session id.
func Spec(id string) idrl.SessionSpec {
	return idrl.SessionSpec{
		ID: idrl.SessionID(id), Title: "Überholen", Env: "driver", Kind: idrl.CompareClips, Seed: 1<<63 + 11, Budget: 30, CreatedAt: T0,
		Acquisition: idrl.DefaultAcquisition, Questions: idrl.AnswerableQuestions, Candidates: 5, Ahead: 3, InstructionsVersion: 1,
		Model: idrl.FeaturesModel, Solver: idrl.AutoSolver, Return: idrl.AutoReturn, Prior: idrl.LinearPrior, PriorVar: 1,
		Likelihood: idrl.Likelihoods()[0], Noise: idrl.OwnNoise, NoiseStd: 3, TieBand: 0.75, RatingModel: idrl.ClippedRatings, RatingVar: 0.05,
		Tolerance: idrl.DefaultTolerance, Doubt: idrl.DefaultDoubt,
	}
}
