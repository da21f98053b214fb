package insight

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/agreement"
)

// Labour is how labelling goes, by the replies that are neither withdrawn nor left out. Imported
// answers have no times, and are in neither Hours, Earlier, Time nor Times.
type Labour struct {
	Replies int
	Hours   []Hour        // without gaps, the first and the last with a reply; at most MostHours
	Earlier int           // replies before the first of Hours
	Time    time.Duration // sum of the response times of all people, without the time in which the page was hidden
	Times   []Times       // of all annotators together first, if there are two or more; then of each, by first reply
	Mix     []Share       // every reply, as it counts, the most frequent first
	Agree   *Agreement
}

// MostHours is how many hours Labour.Hours has at most.
const MostHours = 48

// An Hour counts the replies that came within an hour.
type Hour struct {
	Begin   time.Time // UTC
	Replies int
}

// Times are quantiles of the response times of one person, without the time in which the page
// was hidden.
type Times struct {
	Annotator idrl.AnnotatorID // empty: all together
	N         int
	Q         [5]time.Duration // of 5, 25, 50, 75 and 95 %
}

// A Share is how often one reply was given, with the 95 % interval (Wilson) of its share.
type Share struct {
	Choice   idrl.Choice
	N        int
	Of       float64
	From, To float64
}

// An Agreement is between people who answered the same questions.
type Agreement struct {
	Questions int     // with answers of two people or more
	Raw       float64 // share of pairs of answers that are the same; 0 for ratings
	Alpha     float64 // Krippendorff
	Rated     bool
}

func labourOf(log []idrl.Answer, turned map[idrl.AssignmentID]bool) Labour {
	rows := record.Effective(log)
	l := Labour{Replies: len(rows), Mix: mixOf(rows), Agree: agreementOf(log, turned)}
	given := slices.DeleteFunc(rows, func(a idrl.Answer) bool { return a.Input == idrl.ImportedInput })
	l.Times = timesOf(given)
	for _, a := range given {
		l.Time += time.Duration(a.ResponseMS) * time.Millisecond
	}
	l.Hours, l.Earlier = hoursOf(given)
	return l
}

func hoursOf(rows []idrl.Answer) (out []Hour, earlier int) {
	count := map[int64]int{} // by hours since 1970
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, a := range rows {
		h := a.ReceivedAt.Unix() / 3600
		count[h]++
		first, last = min(first, h), max(last, h)
	}
	if len(rows) == 0 {
		return nil, 0
	}
	begin := max(first, last-MostHours+1)
	earlier = len(rows)
	for h := begin; h <= last; h++ {
		out = append(out, Hour{time.Unix(3600*h, 0).UTC(), count[h]})
		earlier -= count[h]
	}
	return out, earlier
}

func timesOf(rows []idrl.Answer) (out []Times) {
	var order []idrl.AnnotatorID
	of := map[idrl.AnnotatorID][]int64{}
	var all []int64
	for _, a := range rows {
		if of[a.Annotator] == nil {
			order = append(order, a.Annotator)
		}
		of[a.Annotator] = append(of[a.Annotator], a.ResponseMS)
		all = append(all, a.ResponseMS)
	}
	if len(order) > 1 {
		out = append(out, quantiles("", all))
	}
	for _, who := range order {
		out = append(out, quantiles(who, of[who]))
	}
	return out
}

// quantiles sorts ms, of which there is one. Source: Hyndman and Fan, "Sample quantiles in
// statistical packages", 1996, definition 7.
func quantiles(who idrl.AnnotatorID, ms []int64) Times {
	slices.Sort(ms)
	t := Times{Annotator: who, N: len(ms)}
	for i, q := range [...]float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		at := q * float64(len(ms)-1)
		low := int(at)
		high := min(low+1, len(ms)-1)
		v := float64(ms[low]) + (at-float64(low))*float64(ms[high]-ms[low])
		t.Q[i] = time.Duration(v * float64(time.Millisecond)).Round(time.Millisecond)
	}
	return t
}

func mixOf(rows []idrl.Answer) (out []Share) {
	count := map[idrl.Choice]int{}
	for _, a := range rows {
		count[a.Choice]++
	}
	for choice, n := range count {
		s := Share{Choice: choice, N: n, Of: float64(n) / float64(len(rows))}
		s.From, s.To = stats.Wilson(float64(n), len(rows), stats.Z95)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Share) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Choice, b.Choice)) })
	return out
}

// agreementOf returns nil where no two people answered one question.
func agreementOf(log []idrl.Answer, turned map[idrl.AssignmentID]bool) *Agreement {
	arranged := agreement.Arrange(log, turned)
	var shared agreement.Units
	for _, u := range arranged.Units {
		if len(u) >= 2 {
			shared = append(shared, u)
		}
	}
	metric := agreement.Nominal
	if arranged.Rated {
		metric = agreement.Interval
	}
	a := Agreement{Questions: len(shared), Rated: arranged.Rated}
	var ok, raw bool
	a.Alpha, ok = agreement.Alpha(shared, metric)
	a.Raw, raw = agreement.Raw(shared)
	if len(shared) == 0 || !ok && !raw {
		return nil
	}
	return &a
}
