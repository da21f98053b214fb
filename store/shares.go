package store

import (
	"fmt"
	"strconv"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

// encodeShares writes names and parts separated by spaces, the parts so that reading gives the same
// bits. Names of policies have no spaces.
func encodeShares(shares [record.MaxShares]record.Share) string {
	var words []string
	for _, s := range shares {
		if s.Policy != "" {
			words = append(words, string(s.Policy), strconv.FormatFloat(s.Part, 'g', -1, 64))
		}
	}
	return strings.Join(words, " ")
}

// A sharesColumn scans what encodeShares wrote.
type sharesColumn struct {
	dst *[record.MaxShares]record.Share
}

func (c sharesColumn) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("shares of rivals are %T, want text", src)
	}
	*c.dst = [record.MaxShares]record.Share{}
	n := 0
	for word := range strings.FieldsSeq(s) {
		switch {
		case n == 2*record.MaxShares:
			return fmt.Errorf("shares of rivals are %q", s)
		case n%2 == 0:
			c.dst[n/2].Policy = idrl.PolicyID(word)
		default:
			part, err := strconv.ParseFloat(word, 64)
			if err != nil {
				return fmt.Errorf("shares of rivals: %w", err)
			}
			c.dst[n/2].Part = part
		}
		n++
	}
	if n%2 != 0 {
		return fmt.Errorf("shares of rivals are %q", s)
	}
	return nil
}

// encodeBest writes probabilities in thousandths with spaces between them, up to the last one
// that is known.
func encodeBest(best [1 + record.MaxShares]record.Chance) string {
	var words []string
	for _, c := range best {
		if c == 0 {
			break
		}
		words = append(words, strconv.Itoa(int(c)-1))
	}
	return strings.Join(words, " ")
}

// A bestColumn scans what encodeBest wrote.
type bestColumn struct {
	dst *[1 + record.MaxShares]record.Chance
}

func (c bestColumn) Scan(src any) error {
	s, ok := src.(string)
	if !ok {
		return fmt.Errorf("probabilities to be the best are %T, want text", src)
	}
	*c.dst = [1 + record.MaxShares]record.Chance{}
	n := 0
	for word := range strings.FieldsSeq(s) {
		p, err := strconv.ParseUint(word, 10, 16)
		if err != nil || p > 1000 || n == len(c.dst) {
			return fmt.Errorf("probabilities to be the best are %q", s)
		}
		c.dst[n] = record.Chance(p) + 1
		n++
	}
	return nil
}
