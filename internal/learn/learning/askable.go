package learning

import "tiebreak/internal/idrl"

// Recent is how many of the last queries are not repeated to a person once every query
// has been asked.
const Recent = 5

// A Standing is how a query stands with the person who is to be asked, in bits.
type Standing uint8

// Bits of a Standing.
const (
	Out    Standing = 1 << iota // open with them already, or not to be asked at all
	Busy                        // open with somebody
	Known                       // given to them before, or unclear to somebody
	Lately                      // among their last few: see Recent
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

// Askable appends to dst the queries that may be put to a person, where is[i] is how
// queries[i] stands with them: the best class that has any of
//
//  1. new to them, clear to everybody so far, and not pending;
//  2. not pending and not among their last few;
//  3. pending, but with somebody else.
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

// Remembered is how many of the last questions of a person are not repeated as long as
// anything else can be asked, where what questions look like is known.
const Remembered = 50

// Unlike appends to dst the queries that may be put to a person, where is[i] is how
// queries[i] stands with them, Lately aside, and ago[i] how many questions ago one was put to them that looks
// like it: 1 for the last one, 0 if none of the last Remembered did. It is the best class
// that has any of
//
//  1. new to them, clear to everybody so far, not pending, and unlike what they remember;
//  2. not pending, and unlike what they remember;
//  3. pending, but with somebody else, and unlike what they remember;
//  4. not pending, the longest ago;
//  5. pending, but with somebody else, the longest ago.
//
// less[i] is how unwelcome queries[i] is to them; of the first class that has any, those with the lowest number
// may be put.
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
