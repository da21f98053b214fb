package quality

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
)

// Print writes the report as tables for people.
func (q Report) Print(w io.Writer) error {
	if len(q.People) == 0 {
		_, err := fmt.Fprintln(w, "There are no answers yet.")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ANNOTATOR\tANSWERS\tCAN'T TELL\tMEDIAN TIME\tCHOSE LEFT\tSAME ON REPEAT\tGOLD RIGHT\tMARKED\t")
	for _, p := range q.People {
		name := string(p.Annotator)
		if p.LeftOut {
			name += " (left out)"
		}
		left, took := "-", "-"
		if p.LeftHigh-p.LeftLow < 1 {
			left = fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*p.LeftShare, 100*p.LeftLow, 100*p.LeftHigh)
		}
		if p.MedianMS > 0 { // else they were imported
			took = words.Took(time.Duration(p.MedianMS) * time.Millisecond)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t\n", name, p.Answers, p.CantTell,
			took, left, p.sameAgain(q.Rated), p.goldRight(), p.Marked)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range q.People {
		for _, text := range p.Warnings {
			fmt.Fprintf(w, "%s %s.\n", p.Annotator, text)
		}
	}
	if err := q.printSpent(w); err != nil {
		return err
	}
	if err := q.printManners(w); err != nil {
		return err
	}
	if q.Questions == 0 {
		_, err := fmt.Fprintln(w, "\nNo question was answered by two annotators, so their agreement is not known.")
		return err
	}
	fmt.Fprintf(w, "\nAgreement over %d questions that two annotators or more answered:\n", q.Questions)
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if !q.Rated {
		fmt.Fprintf(t, "raw agreement\t%s\n", q.Raw)
	}
	fmt.Fprintf(t, "Krippendorff's alpha\t%s\n", q.Alpha)
	if !q.Rated {
		fmt.Fprintf(t, "Fleiss' kappa\t%s\n", q.Fleiss)
	}
	for _, c := range q.Cohen {
		kappa := (*Coefficient)(nil)
		if c.Kappa != nil {
			kappa = &Coefficient{Value: *c.Kappa}
		}
		fmt.Fprintf(t, "Cohen's kappa of %s and %s\t%s over %d\n", c.A, c.B, kappa, c.Questions)
	}
	return t.Flush()
}

func (p Person) sameAgain(rated bool) string {
	switch {
	case p.Repeats == 0:
		return "-"
	case rated:
		return fmt.Sprintf("%d again, %.2f apart", p.Repeats, p.Difference)
	}
	return ofAll(p.SaidSame, p.Repeats, p.SameLow, p.SameHigh)
}

func (p Person) goldRight() string {
	if p.Gold == 0 {
		return "-"
	}
	return ofAll(p.GoldRight, p.Gold, p.GoldLow, p.GoldHigh)
}

// ofAll writes a share with its interval.
func ofAll(k, n int, low, high float64) string {
	return fmt.Sprintf("%d of %d (%.0f to %.0f %%)", k, n, 100*low, 100*high)
}

// String writes a coefficient for people.
func (c *Coefficient) String() string {
	switch {
	case c == nil:
		return "not defined"
	case c.Low == nil:
		return words.Signed(c.Value, 2)
	}
	return fmt.Sprintf("%s (%s to %s)", words.Signed(c.Value, 2), words.Signed(*c.Low, 2), words.Signed(*c.High, 2))
}

// printManners writes the reliability of annotators under the posterior, if that distinguishes
// them.
func (q Report) printManners(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "ANNOTATOR\tAT RANDOM\tREVERSED\tNOISE\tLAPSES\tTIE WIDTH\t"
	if q.Rated {
		head = "ANNOTATOR\tAT RANDOM\tREVERSED\tNOISE\tLAPSES\tOFFSET\tSCALE\t"
	}
	known := false
	for _, p := range q.People {
		m := p.Manner
		if m == nil {
			continue
		}
		if !known {
			known = true
			fmt.Fprintln(w, "\nReliability under the posterior, with 95 % intervals; noise, tie width and scale are relative to the settings of the session:")
			fmt.Fprintln(t, head)
		}
		fmt.Fprintf(t, "%s\t%.0f %%\t%.0f %%\t%s\t%s\t", p.Annotator, 100*m.Random, 100*m.Reversed, times(m.Noise), lapses(*m))
		if q.Rated {
			fmt.Fprintf(t, "%+.2f (%+.2f to %+.2f)\t%s\t\n", m.Offset.Middle, m.Offset.Low, m.Offset.High, times(m.Scale))
		} else {
			fmt.Fprintf(t, "%s\t\n", times(m.TieWidth))
		}
	}
	return t.Flush()
}

// lapses writes the share of lapses of a person.
func lapses(m idrl.Manner) string {
	if !m.LapseKnown() {
		return "too few answers"
	}
	return fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*m.Lapse.Middle, 100*m.Lapse.Low, 100*m.Lapse.High)
}

// times writes a factor.
func times(r idrl.Range) string {
	if r == (idrl.Range{}) {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f to %.2f)", r.Middle, r.Low, r.High)
}

// printSpent writes where the time of annotators went.
func (q Report) printSpent(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nWhere the time went, with the page in view:")
	fmt.Fprintln(t, "ANNOTATOR\tTIME\tSECONDS A QUESTION\tON CHANGES\tON CAN'T TELL\tHESITATIONS\t")
	for _, p := range q.People {
		if s := p.Spent; s.Answers > 0 {
			x := s.Words()
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t\n", p.Annotator, x.Time, x.Each, x.Changes, x.CantTell, x.Hesitations)
		}
	}
	return t.Flush()
}
