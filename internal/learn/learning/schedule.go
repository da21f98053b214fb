package learning

import (
	"cmp"

	"tiebreak/internal/idrl"
)

// A Schedule says when candidates are trained, when they come into use, and which policies
// are kept. It is data, so that an experiment can use another one.
type Schedule struct {
	Every   int64   // answers between the posteriors that two generations are trained from
	Latency int64   // answers that arrive while a generation is trained; it is used from the next one on
	Ahead   int     // queries that are open at a time: the others are pending when one is chosen
	Samples int     // Thompson samples of a generation
	Pool    int     // policies that are solved for before the first query
	Queries int     // of a generation, at most
	Archive int     // policies of earlier generations that are kept, at most; 0: all
	Alike   float64 // distance up to which policies count as one, as a share of the greatest among the pool and the first candidates
}

// Exact is the schedule of the paper: candidates are trained after every answer, no answer
// arrives during training, one query is open at a time, and every policy is kept.
func Exact() Schedule { return Schedule{Every: 1, Ahead: 1, Samples: 5} }

// Sizes of live sessions.
const (
	livePool    = 30
	liveQueries = 2000

	// liveArchive is a number of policies with which the choice of a query takes 1 to 3 ms
	// (2,000 queries and 5 to 25 features). With 1,000 policies it takes 10 to 18 ms in the
	// goroutine that takes in answers.
	liveArchive = 200

	// liveAlike makes the returns of two policies that count as one differ by about a
	// thousandth of the span or less.
	liveAlike = 1e-3
)

// While no training is due, searches among gaits go on by follow-ups (idrl.TrainJob.From).
const (
	// FollowUps is the largest number of follow-ups of a generation: about two minutes on a
	// core. A follow-up that found nothing new counts as DryFollowUps.
	FollowUps    = 12
	DryFollowUps = 3
)

// Live is the schedule of a session with people whose generations take less than a second: one
// is trained after every answer, and is used from the answer after next on.
func Live() Schedule {
	return Schedule{
		Every: 1, Latency: 1, Ahead: 3, Samples: 5, Pool: livePool, Queries: liveQueries, Archive: liveArchive, Alike: liveAlike,
	}
}

// Dear is the schedule of a session whose generations take as long as three answers.
func Dear() Schedule {
	s := Live()
	s.Every, s.Latency = idrl.DearTrainEvery, idrl.DearTrainEvery
	return s
}

// OfSession returns the schedule of spec. If AdoptAfter is 0 a generation is used as soon as
// it is trained, and Latency is 0 for unknown. If TrainEvery is 0, Every is 0 for unknown: it
// depends on the duration of trainings.
func OfSession(spec idrl.SessionSpec) Schedule {
	s := Live()
	s.Every, s.Latency = spec.TrainEvery, spec.AdoptAfter
	s.Ahead, s.Samples = cmp.Or(spec.Ahead, s.Ahead), cmp.Or(spec.Candidates, s.Samples)
	return s
}
