package authors

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Curve holds statistics over seeds after each number of queries. A standard
// error is the population standard deviation over √Seeds. All slices have the
// length of Queries, but for those of a measure that was not recorded, which are
// nil.
type Curve struct {
	Queries []int // 1, 2, …
	Seeds   int

	RegretMean, RegretSE, RegretMedian []float64
	MSEMean, MSESE, MSEMedian          []float64 // of the believed rewards; not for Driver
	CosineMean, CosineSE, CosineMedian []float64 // of the believed with the true weights; Driver only
}

var parsedCurves = sync.OnceValue(func() map[string]Curve {
	out := map[string]Curve{}
	for _, f := range must(files.ReadDir("curves")) {
		name := strings.TrimSuffix(f.Name(), ".csv")
		if !strings.Contains(name, "__") {
			continue // a table of times
		}
		out[name] = must(ParseCurve(bytes.NewReader(must(files.ReadFile("curves/" + f.Name())))))
	}
	return out
})

// CurveOf returns the curve of a setting ("chain_state") and a method by the
// authors' name for it ("IDRL"), and whether there is one.
func CurveOf(setting, method string) (Curve, bool) {
	c, ok := parsedCurves()[setting+"__"+method]
	return c, ok
}

// ParseCurve reads a curve from CSV with a header: n_queries, n_seeds and
// NAME_mean, NAME_se, NAME_median of regret and, where there, mse and cosine.
// Columns may come in any order, and others are left out. n_queries must run
// 1, 2, …, and n_seeds must be the same in every row.
func ParseCurve(r io.Reader) (Curve, error) {
	rows, err := csv.NewReader(r).ReadAll() // it refuses rows of unequal length
	if err != nil {
		return Curve{}, fmt.Errorf("read a curve: %w", err)
	}
	if len(rows) < 2 {
		return Curve{}, fmt.Errorf("read a curve: no rows")
	}
	c := Curve{}
	for i, row := range rows[1:] {
		if err := c.add(rows[0], row); err != nil {
			return Curve{}, fmt.Errorf("read a curve, row %d: %w", i+1, err)
		}
	}
	if len(c.RegretMean) == 0 || len(c.RegretSE) == 0 || len(c.RegretMedian) == 0 {
		return Curve{}, fmt.Errorf("read a curve: the columns of regret are missing")
	}
	return c, nil
}

// add appends a row.
func (c *Curve) add(header, row []string) error {
	n, err := integer(header, row, "n_queries")
	if err != nil {
		return err
	}
	seeds, err := integer(header, row, "n_seeds")
	if err != nil {
		return err
	}
	if n != len(c.Queries)+1 || seeds < 1 || c.Seeds > 0 && seeds != c.Seeds {
		return fmt.Errorf("%d queries and %d seeds after %d rows of %d seeds", n, seeds, len(c.Queries), c.Seeds)
	}
	c.Queries, c.Seeds = append(c.Queries, n), seeds
	for name, dst := range c.columns() {
		i := slices.Index(header, name)
		if i < 0 {
			continue
		}
		v, err := strconv.ParseFloat(row[i], 64)
		if err != nil || v-v != 0 {
			return fmt.Errorf("%s %q is no finite number", name, row[i])
		}
		*dst = append(*dst, v)
	}
	return nil
}

// columns returns where each column goes.
func (c *Curve) columns() map[string]*[]float64 {
	return map[string]*[]float64{
		"regret_mean": &c.RegretMean, "regret_se": &c.RegretSE, "regret_median": &c.RegretMedian,
		"mse_mean": &c.MSEMean, "mse_se": &c.MSESE, "mse_median": &c.MSEMedian,
		"cosine_mean": &c.CosineMean, "cosine_se": &c.CosineSE, "cosine_median": &c.CosineMedian,
	}
}

func integer(header, row []string, name string) (int, error) {
	i := slices.Index(header, name)
	if i < 0 {
		return 0, fmt.Errorf("the column %s is missing", name)
	}
	return strconv.Atoi(row[i])
}
