package session

import (
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/measure"
)

// gold returns the question with a known answer that the annotator is asked next, if one is
// due: one among every GoldSettings.Every of their questions, at a place that they cannot
// foresee, and each such question once. n is the number of the assignment. Like choose it is
// a function of the log, the assignments so far and the settings. Its error is that of the
// journal.
func (s *selector) gold(who idrl.AnnotatorID, n int64, fresh []record.Assignment) (as record.Assignment, ok bool, err error) {
	every := s.golden.Every
	if every == 0 || len(s.golden.Questions) == 0 {
		return as, false, nil
	}
	own := s.own(who, fresh)
	block, place := len(own)/every, len(own)%every
	if place < rng.New(s.spec.Seed, "gold for "+string(who), uint64(block)).IntN(every) { // #nosec G115 -- not negative
		return as, false, nil
	}
	for _, a := range own[block*every:] {
		if a.Gold != 0 {
			return as, false, nil
		}
	}
	k, ok, err := s.freshGold(own, s.lastAsked(who, fresh), n)
	if err != nil || !ok {
		return as, false, err
	}
	as = s.lease(who, n, k.Query)
	as.Gold = k.Version
	if k.Query.Kind.Comparison() {
		as.Left = s.side(n)
	}
	as.Why = record.Why{Purpose: record.ForGold, BasedOn: s.gen.BasedOn, AfterSeq: s.log.seq()}
	return as, true, nil
}

// own returns the questions that were put to the annotator, those of fresh included, without
// those that were asked again after a withdrawal.
func (s *ledger) own(who idrl.AnnotatorID, fresh []record.Assignment) (own []*record.Assignment) {
	for _, a := range s.asked.of[who] {
		if a.Reopens == "" {
			own = append(own, a)
		}
	}
	for i := range fresh {
		if fresh[i].Reopens == "" {
			own = append(own, &fresh[i])
		}
	}
	return own
}

// maxGoldTries bounds how many gold questions are compared with a person's last questions.
const maxGoldTries = 10

// freshGold draws a gold question that is not among own, plays, is not held out, and does not
// look like one of the last questions.
func (s *selector) freshGold(own []*record.Assignment, last []idrl.Query, n int64) (record.Known, bool, error) {
	had := map[idrl.QueryID]bool{}
	for _, a := range own {
		had[a.Query.ID] = true
	}
	all, tries := s.golden.Questions, 0
	for _, i := range rng.New(s.spec.Seed, "gold", uint64(n)).Perm(len(all)) { // #nosec G115 -- assignments are counted from 1
		k := all[i]
		if had[k.Query.ID] || s.log.broken[k.Query.ID] > 0 || s.asked.heldOut[k.Query.ID] > 0 {
			continue
		}
		if tries++; tries > maxGoldTries {
			break
		}
		seen, err := s.seenLately(k.Query, last)
		if err != nil {
			return record.Known{}, false, err
		}
		if !seen {
			return k, true, nil
		}
	}
	return record.Known{}, false, nil
}

// seenLately reports whether a question looks like one of last, where it matters what people
// see. Its error is that of the journal.
func (s *selector) seenLately(q idrl.Query, last []idrl.Query) (bool, error) {
	if !s.seesQuestions() {
		return false, nil
	}
	views, err := s.sight.viewsOf(q)
	if err != nil || views == nil {
		return false, err
	}
	for _, old := range last {
		others, err := s.sight.viewsOf(old)
		if err != nil {
			return false, err
		}
		if len(others) == len(views) && looksLike(views, others) {
			return true, nil
		}
	}
	return false, nil
}

// viewsOf returns the views of the clips of a question, nil if one of them cannot be
// measured. Its error is that of view.
func (s *sight) viewsOf(q idrl.Query) (out []*measure.View, err error) {
	for _, id := range q.Clips {
		v, err := s.view(id)
		if err != nil || v == nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// looksLike reports whether two questions, about one clip or two, look alike, either way round.
func looksLike(a, b []*measure.View) (is bool) {
	var err error
	if len(a) == 2 {
		is, err = measure.Repeats(a[0], a[1], b[0], b[1])
	} else {
		is, err = measure.Alike(a[0], b[0])
	}
	return is && err == nil // what shows other things is not alike
}
