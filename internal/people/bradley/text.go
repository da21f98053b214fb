package bradley

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"tiebreak/internal/base/stats"
	"tiebreak/internal/base/words"
)

// Headline says what the test has found, or where there is none, what is known of the first two entrants.
func (r Report) Headline() string {
	first, second := r.Entrants[0].Title, r.Entrants[1].Title
	switch {
	case r.Answers == 0:
		return "There are no answers yet."
	case r.Test != nil:
		return r.Test.headline()
	case r.More == nil:
		return fmt.Sprintf("The answers do not show whether “%s” or “%s” is stronger, and the number of answers still needed is not known.", first, second)
	case *r.More == 0:
		return fmt.Sprintf("“%s” is the strongest, with a probability of %s.", first, stats.Percent(r.Entrants[0].Best))
	}
	return fmt.Sprintf("The answers do not show yet whether “%s” or “%s” is stronger; about %s further answers may be enough.", first, second, words.Count(*r.More))
}

// Sum says how many answers there are, of how many people, and what Each says.
func (r Report) Sum() string {
	answers, people := words.Count(r.Answers)+" answers", fmt.Sprintf("%d people", len(r.People))
	if r.Answers == 1 {
		answers = "1 answer"
	}
	if len(r.People) == 1 {
		people = "one person"
	}
	return strings.TrimSpace(fmt.Sprintf("%s of %s; %d equal. %s", answers, people, r.Ties, r.Each()))
}

// Cut says that not all clips of the arena are cut; nothing where all are. An arena may end before.
func (r Report) Cut() string {
	if !r.Cutting {
		return ""
	}
	return "Not all clips of this arena are cut: people were asked about a part of the pairs of episodes so far."
}

// WriteJSON writes the report as the file arena.json.
func (r Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
