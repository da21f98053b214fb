package authors

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"sync"
)

// Timing is the authors' cost of one query, in seconds of CPU time, early in a
// run. The cost grows with the number of answers.
type Timing struct {
	Select     float64 // choosing the query and updating the belief
	Candidates float64 // solving for candidate policies
	Rollouts   float64 // of these policies
	Note       string  // how it was measured
}

type timingKey struct{ setting, method, code string }

var parsedTimings = sync.OnceValue(func() map[timingKey]Timing {
	out := map[timingKey]Timing{}
	for i, row := range table("curves/timing_small_envs.csv")[1:] {
		var v [3]float64
		for k := range v {
			v[k] = must(strconv.ParseFloat(row[3+k], 64))
		}
		if !(v[0] > 0) {
			panic(fmt.Sprintf("authors: time %v in row %d", v, i+1))
		}
		out[timingKey{row[0], row[1], row[2]}] = Timing{v[0], v[1], v[2], "mean of " + row[6] + " queries"}
	}
	out[timingKey{"driver_comparison", "IDRL", "reference"}] = Timing{
		Select: 4.6, Candidates: 4.86, // "IDRL selection per query" and "IDRL candidate policies per query" of timing_driver.csv
		Note: "0.70 s measured with 15 candidate queries, scaled to the 100 of the experiment",
	}
	return out
})

// TimingOf returns the time of the authors' code as published in a setting
// ("chain_state") by their name of the method ("IDRL"), and whether it was
// measured.
func TimingOf(setting, method string) (Timing, bool) {
	t, ok := parsedTimings()[timingKey{setting, method, "reference"}]
	return t, ok
}

// A Note is a time that was measured of the authors' code in Driver, in words.
type Note struct {
	Item    string
	Code    string // "reference", as published, or "accelerated"
	Seconds string // of CPU time
	How     string
}

// DriverNotes returns the times measured in Driver.
func DriverNotes() (out []Note) {
	for _, row := range table("curves/timing_driver.csv")[1:] {
		out = append(out, Note{row[0], row[1], row[2], row[3]})
	}
	return out
}

// table returns the rows of a CSV file of this package.
func table(name string) [][]string {
	return must(csv.NewReader(bytes.NewReader(must(files.ReadFile(name)))).ReadAll())
}
