package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/people/quality"
)

// The report on a simulated person's time agrees with the record of the simulation: the times that it drew, and the
// answers after which another policy was recommended. No training is made meanwhile: it could change the recommendation, too.
func TestQualityKnowsWhereTheTimeWent(t *testing.T) {
	t.Parallel()
	data, file := t.TempDir(), filepath.Join(t.TempDir(), "runs.csv")
	simulateRuns(t, "--runs", "1", "--env", "driver", "--expert", "seeing", "--answers", "40", "--pace", "3s", "--skip-idle",
		"--every", "1", "--train-every", "1000", "--data", data, "--csv", file)
	rows := readColumns(t, file)
	id := rows["session"][0]
	var want quality.Spent
	for i, text := range rows["response_s"] {
		s := must.Get(strconv.ParseFloat(text, 64))(t)
		ms := int64(s * 1000) // a response time is recorded in whole milliseconds
		want.Answers, want.MS = want.Answers+1, want.MS+ms
		if i == 0 {
			continue
		}
		want.Known, want.KnownMS = want.Known+1, want.KnownMS+ms
		if rows["recommended"][i] != rows["recommended"][i-1] {
			want.Changed, want.ChangedMS = want.Changed+1, want.ChangedMS+ms
		}
	}
	var q quality.Report
	must.Do(t, json.Unmarshal([]byte(mustCLI(t, "quality", "--data", data, "--session", id, "--json")), &q))
	got := q.People[0].Spent
	if got.Answers != 40 || got.Known != want.Known || got.Changed != want.Changed || want.Changed == 0 {
		t.Errorf("answers, known and changed are %+v, want %+v", got, want)
	}
	for name, ms := range map[string][2]int64{"all": {got.MS, want.MS}, "known": {got.KnownMS, want.KnownMS}, "changed": {got.ChangedMS, want.ChangedMS}} {
		if math.Abs(float64(ms[0]-ms[1])) > 40 { // at most a millisecond of rounding for each answer
			t.Errorf("%s: %d ms, want %d", name, ms[0], ms[1])
		}
	}
	if table := mustCLI(t, "quality", "--data", data, "--session", id); !strings.Contains(table, "SECONDS A QUESTION") || !strings.Contains(table, strconv.FormatFloat(got.Seconds(), 'f', 1, 64)) {
		t.Errorf("the table says\n%s", table)
	}
}
