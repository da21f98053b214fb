package statements

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
)

// Head is the head of the table of cells, in Markdown.
const Head = "| world | people | answers | withheld | bound covers, said | bound covers, all | sure: number | sure: right | regret % | true/stated mean | may stop: right, wrong; mean answers |\n" +
	"|---|---|---|---|---|---|---|---|---|---|---|"

// WriteCell writes the rows of a cell: after each of some numbers of answers, and over all.
func WriteCell(w io.Writer, runs []Run, at []int) {
	for _, n := range append(at, 0) {
		if n > len(runs[0].Moments) {
			continue
		}
		f, after, stop := Sum(runs, n), strconv.Itoa(n), ""
		if n == 0 {
			s := StopsOf(runs)
			after, stop = "all", fmt.Sprintf("%d of %d: %d, %d; %.1f", s.Stopped, len(runs), s.Right, s.Wrong, s.Answers)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.0f %% | %s | %s | %d | %s | %s | %s | %s |\n", runs[0].World, runs[0].People, after,
			100*f.Withheld, f.Covered.of(100, 1), f.Always.of(100, 1), f.Sure, f.Right.of(100, 0), f.Regret.of(100, 1), f.Ratio.of(1, 2), stop)
	}
}

// of writes a figure times unit.
func (f Figure) of(unit float64, digits int) string {
	if math.IsNaN(f.Value) {
		return "–"
	}
	return fmt.Sprintf("%.*f (%.*f–%.*f)", digits, unit*f.Value, digits, unit*f.Low, digits, unit*f.High)
}

// columns are those of a file of moments.
var columns = []string{"world", "people", "seed", "answers", "regret", "within", "bound", "mean", "against", "may_stop"}

// Append adds the moments of a run to a file, which it makes if there is none.
func Append(file string, runs []Run) (err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := csv.NewWriter(f)
	if at, err := f.Seek(0, io.SeekEnd); err == nil && at == 0 {
		_ = w.Write(columns) // Flush has the error
	}
	for _, r := range runs {
		for _, m := range r.Moments {
			_ = w.Write([]string{
				r.World, r.People, strconv.FormatUint(r.Seed, 10), strconv.Itoa(m.Answers), number(m.Regret), number(m.Within),
				number(m.Bound), number(m.Mean), m.Against, strconv.FormatBool(m.MayStop),
			})
		}
	}
	w.Flush()
	return w.Error()
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }

// Read returns the runs of a file with as many answers; none if there is no file.
func Read(file string, answers int) (whole []Run, err error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var runs []Run
	for i, row := range rows {
		if i == 0 {
			continue
		}
		seed, m, err := parse(row)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, i+1, err)
		}
		if n := len(runs); n == 0 || m.Answers == 1 {
			runs = append(runs, Run{World: row[0], People: row[1], Seed: seed})
		}
		last := &runs[len(runs)-1]
		last.Moments = append(last.Moments, m)
	}
	for _, r := range runs {
		if len(r.Moments) == answers {
			whole = append(whole, r)
		}
	}
	return whole, nil
}

// parse reads a row of a file of moments.
func parse(row []string) (seed uint64, m Moment, err error) {
	var errs [7]error
	seed, errs[0] = strconv.ParseUint(row[2], 10, 64)
	m.Answers, errs[1] = strconv.Atoi(row[3])
	for i, to := range []*float64{&m.Regret, &m.Within, &m.Bound, &m.Mean} {
		*to, errs[2+i] = strconv.ParseFloat(row[4+i], 64)
	}
	m.Against = row[8]
	m.MayStop, errs[6] = strconv.ParseBool(row[9])
	return seed, m, errors.Join(errs[:]...)
}
