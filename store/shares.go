package store

import (
	"fmt"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
)

// encodeShares writes names and parts with spaces between them, the parts such that they are
// read bit for bit. Names of policies have no spaces.
func encodeShares(shares [idrl.MaxShares]idrl.Share) string {
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
	dst *[idrl.MaxShares]idrl.Share
}

func (c sharesColumn) Scan(src any) error {
	s, ok := src.(string)
	words := strings.Fields(s)
	if !ok || len(words)%2 != 0 || len(words) > 2*idrl.MaxShares {
		return fmt.Errorf("shares of rivals are %q (%T)", s, src)
	}
	*c.dst = [idrl.MaxShares]idrl.Share{}
	for i := 0; i < len(words); i += 2 {
		part, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil {
			return fmt.Errorf("shares of rivals: %w", err)
		}
		c.dst[i/2] = idrl.Share{Policy: idrl.PolicyID(words[i]), Part: part}
	}
	return nil
}

// encodeBest writes probabilities in thousandths with spaces between them, up to the last one
// that is known.
func encodeBest(best [1 + idrl.MaxShares]idrl.Chance) string {
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
	dst *[1 + idrl.MaxShares]idrl.Chance
}

func (c bestColumn) Scan(src any) error {
	s, ok := src.(string)
	words := strings.Fields(s)
	if !ok || len(words) > len(c.dst) {
		return fmt.Errorf("probabilities to be the best are %q (%T)", s, src)
	}
	*c.dst = [1 + idrl.MaxShares]idrl.Chance{}
	for i, w := range words {
		p, err := strconv.ParseUint(w, 10, 16)
		if err != nil || p > 1000 {
			return fmt.Errorf("a probability to be the best is %q", w)
		}
		c.dst[i] = idrl.Chance(p) + 1
	}
	return nil
}
