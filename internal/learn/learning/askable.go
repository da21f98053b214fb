package learning

import "tiebreak/internal/idrl"

// Recent is the number of a person's last queries that are not repeated when every query has
// been asked.
const Recent = 5

// A Standing is the state of a query for the person who is to be asked, in bits.
type Standing uint8

// Bits of a Standing.
const (
	Out    Standing = 1 << iota // open with them already, or not to be asked at all
	Busy                        // open with another person
	Known                       // given to them before, or unclear to any person
	Lately                      // among their last Recent ones
)

// class returns the class in which a query may be asked, from 1 on, or 0 if it may
// not.
func (is Standing) class() int {
	switch {
	case is&Out != 0:
		return 0
	case is&Busy != 0:
		return 3
	case is&Known == 0:
		return 1
	case is&Lately == 0:
		return 2
	}
	return 0
}

// Askable appends the queries that a person may be asked to dst, where is[i] is the Standing
// of queries[i] for them. These are the queries of the first class that is not empty:
//
//  1. new to them, clear to all people so far, and not pending;
//  2. not pending and not among their last ones;
//  3. pending with another person.
func Askable(dst, queries []idrl.QueryVector, is []Standing) []idrl.QueryVector {
	best := 0
	for _, s := range is {
		if n := s.class(); n > 0 && (best == 0 || n < best) {
			best = n
		}
	}
	for i, s := range is {
		if best > 0 && s.class() == best {
			dst = append(dst, queries[i])
		}
	}
	return dst
}

// Remembered is the number of a person's last questions that are not repeated while other
// questions can be asked, if it is known which questions look alike.
const Remembered = 50

// Unlike appends the queries that a person may be asked to dst. is[i] is the Standing of
// queries[i] for them, in which Lately has no effect. ago[i] says how many questions ago they
// were asked one that looks like queries[i]: 1 for the last one, 0 if none of the last
// Remembered ones does. The queries are those of the first class that is not empty:
//
//  1. new to them, clear to all people so far, not pending, ago[i] is 0;
//  2. not pending, ago[i] is 0;
//  3. pending with another person, ago[i] is 0;
//  4. not pending, with the largest ago[i];
//  5. pending with another person, with the largest ago[i].
//
// less[i] is a penalty of queries[i]. Of the class only the queries with the lowest penalty
// are appended.
func Unlike(dst, queries []idrl.QueryVector, is []Standing, ago, less []uint8) []idrl.QueryVector {
	rank := func(i int) (class int, longAgo uint8) {
		switch s := is[i]; {
		case s&Out != 0:
			return 0, 0
		case ago[i] > 0 && s&Busy != 0:
			return 5, ago[i]
		case ago[i] > 0:
			return 4, ago[i]
		case s&Busy != 0:
			return 3, 0
		case s&Known != 0:
			return 2, 0
		}
		return 1, 0
	}
	best, longest, least := 0, uint8(0), uint8(0)
	for i := range is {
		switch class, at := rank(i); {
		case class == 0 || best > 0 && (class > best || class == best && at < longest):
		case class == best && at == longest:
			least = min(least, less[i])
		default:
			best, longest, least = class, at, less[i]
		}
	}
	for i := range is {
		if class, at := rank(i); best > 0 && class == best && at == longest && less[i] == least {
			dst = append(dst, queries[i])
		}
	}
	return dst
}
