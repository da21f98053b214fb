package export_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
)

var (
	spec     = idrl.SessionSpec{ID: "s1", Env: "driver", Acquisition: "idrl", Features: features}
	features = []string{"Keeping to a lane", "Off the target speed", "Off-the-target speed"}
	shown    = time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.FixedZone("", 3600))
)

// comparison is a query between two clips with features 1 2 3 and -1 0 1e-17.
func comparison() (idrl.Query, []idrl.Clip) {
	q := idrl.Query{ID: "q1", Kind: idrl.CompareClips, Clips: []idrl.ClipID{"c1", "c2"}}
	return q, []idrl.Clip{{ID: "c1", Phi: []float64{1, 2, 3}}, {ID: "c2", Phi: []float64{-1, 0, 1e-17}}}
}

// rows holds each form of a row.
func rows() []export.Row {
	q, clips := comparison()
	why := record.Why{First: "g0.p1", Second: "g0.p2", PairStd: 0.75, Info: 0.125, BasedOn: 0, AfterSeq: 4}
	answer := func(seq int64, c idrl.Choice) idrl.Answer {
		return idrl.Answer{
			ID: idrl.AnswerID("id" + string(rune('0'+seq))), Seq: seq, Query: q.ID, Annotator: "an1", Choice: c, Left: idrl.SideB,
			ShownAt: shown, AnsweredAt: shown.Add(time.Second), ReceivedAt: shown.Add(2 * time.Second),
			ResponseMS: 1000, Loops: 2, Input: "keyboard", Instructions: 1,
		}
	}
	skip := answer(4, idrl.Skip)
	skip.Reason, skip.Late, skip.Doubts = "broken", true, idrl.DoubtClock|idrl.DoubtDuration
	rated := answer(6, idrl.Rated)
	rated.Rating, rated.Left = -0.4, ""
	return []export.Row{
		{Answer: answer(1, idrl.ChoseA), Query: q, Clips: clips, Why: why, Gold: true, GoldRight: true, GoldKnown: true},
		{Answer: answer(2, idrl.ChoseB), Query: q, Clips: clips, Why: why, Gold: true, GoldKnown: true, Withdrawn: true},
		{Answer: answer(3, idrl.Equal), Query: q, Clips: clips, Gold: true},
		{Answer: skip, Query: q, Clips: clips, Why: why},
		{Answer: rated, Query: idrl.Query{ID: "q2", Kind: idrl.RateClip, Clips: []idrl.ClipID{"c1"}}, Clips: clips[:1], Why: why},
	}
}

// from yields a list.
func from(list []export.Row) export.Rows {
	return func(yield func(export.Row) error) error {
		for _, r := range list {
			if err := yield(r); err != nil {
				return err
			}
		}
		return nil
	}
}

func write(t *testing.T, format string, list []export.Row) []byte {
	t.Helper()
	var out bytes.Buffer
	must.Do(t, export.Write(&out, format, spec, from(list)))
	return out.Bytes()
}

// readCSV returns the records by column.
func readCSV(t *testing.T, b []byte) []map[string]string {
	t.Helper()
	all := must.Get(csv.NewReader(bytes.NewReader(b)).ReadAll())(t)
	var out []map[string]string
	for _, record := range all[1:] {
		m := map[string]string{}
		for i, name := range all[0] {
			m[name] = record[i]
		}
		out = append(out, m)
	}
	return out
}

// readJSONL returns the records.
func readJSONL(t *testing.T, b []byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		m := map[string]any{}
		must.Do(t, json.Unmarshal(s.Bytes(), &m))
		out = append(out, m)
	}
	return out
}

func TestCSV(t *testing.T) {
	got := readCSV(t, write(t, "csv", rows()))
	if len(got) != 5 {
		t.Fatalf("records = %d, want 5", len(got))
	}
	for _, test := range []struct {
		row          int
		column, want string
	}{
		{0, "label_id", "id1"},
		{0, "seq", "1"},
		{0, "session_id", "s1"},
		{0, "env", "driver"},
		{0, "clip_a", "c1"},
		{0, "clip_b", "c2"},
		{0, "choice", "a"},
		{0, "prob_a", "1"},
		{0, "left", "b"},
		{0, "rating", ""},
		{0, "shown_at", "2026-11-20T11:00:00.123Z"},
		{0, "pair_std", "0.75"},
		{0, "info_nats", "0.125"},
		{0, "features_a_keeping_to_a_lane", "1"},
		{0, "features_b_off_the_target_speed", "0"},
		{0, "features_b_off_the_target_speed_2", "1e-17"},
		{1, "prob_a", "0"},
		{1, "withdrawn", "true"},
		{2, "prob_a", "0.5"},
		{2, "policy_1", ""}, // Uniform has no pair
		{2, "info_nats", ""},
		{3, "prob_a", ""},
		{3, "reason", "broken"},
		{3, "late", "true"},
		{3, "doubts", "clock,duration"},
		{4, "doubts", ""},
		{4, "seq", "6"}, // row 5 of the log withdraws answer 2
		{4, "kind", "clip_rating"},
		{4, "rating", "-0.4"},
		{4, "left", ""},
		{4, "clip_b", ""},
		{4, "features_a_off_the_target_speed", "2"},
		{4, "features_b_off_the_target_speed", ""},
	} {
		if v, ok := got[test.row][test.column]; !ok || v != test.want {
			t.Errorf("row %d: %s = %q (present %v), want %q", test.row, test.column, v, ok, test.want)
		}
	}
}

func TestJSONLinesSayTheSameAsCSV(t *testing.T) {
	table := readCSV(t, write(t, "csv", rows()))
	lines := readJSONL(t, write(t, "jsonl", rows()))
	if len(lines) != len(table) {
		t.Fatalf("lines = %d, records = %d", len(lines), len(table))
	}
	for i, line := range lines {
		flat := map[string]string{}
		for key, v := range line {
			switch v := v.(type) {
			case map[string]any:
				for name, x := range v {
					flat[key+"_"+name] = plain(x)
				}
			case nil:
				if strings.HasPrefix(key, "features_") {
					for _, s := range []string{"keeping_to_a_lane", "off_the_target_speed", "off_the_target_speed_2"} {
						flat[key+"_"+s] = ""
					}
					continue
				}
				flat[key] = ""
			default:
				flat[key] = plain(v)
			}
		}
		if diff := cmp.Diff(table[i], flat); diff != "" {
			t.Errorf("row %d differs (-csv +jsonl):\n%s", i, diff)
		}
	}
}

// plain writes a decoded JSON value as CSV would.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(string(b), ".0")
}

func TestFormulasAreDisarmed(t *testing.T) {
	r := rows()[3]
	for _, text := range []string{"=1+1", "+1", "-1", "@x", "\tx", "\rx"} {
		r.Answer.Reason = text
		if got := readCSV(t, write(t, "csv", []export.Row{r}))[0]["reason"]; got != "'"+text {
			t.Errorf("reason %q is written as %q", text, got)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	q, _ := comparison()
	short := export.Row{Query: q, Clips: []idrl.Clip{{ID: "c", Phi: []float64{1}}}}
	broken := errors.New("broken")
	for _, test := range []struct {
		name, format string
		rows         export.Rows
		kind         idrl.Kind
	}{
		{"unknown format", "xml", from(nil), idrl.Invalid},
		{"features that do not fit, jsonl", "jsonl", from([]export.Row{short}), idrl.Internal},
		{"features that do not fit, csv", "csv", from([]export.Row{short}), idrl.Internal},
		{"a source that fails", "csv", func(func(export.Row) error) error { return broken }, idrl.Internal},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := export.Write(&bytes.Buffer{}, test.format, spec, test.rows)
			if err == nil || idrl.KindOf(err) != test.kind {
				t.Errorf("error = %v, want one of kind %d", err, test.kind)
			}
		})
	}
}

func TestSameRowsSameBytes(t *testing.T) {
	for _, format := range export.Formats() {
		if !bytes.Equal(write(t, format, rows()), write(t, format, rows())) {
			t.Errorf("%s: two exports of the same rows differ", format)
		}
	}
}

func TestEmptyLogHasAHeaderOnly(t *testing.T) {
	if n := bytes.Count(write(t, "csv", nil), []byte("\n")); n != 1 {
		t.Errorf("lines of CSV = %d, want the header", n)
	}
	if b := write(t, "jsonl", nil); len(b) != 0 {
		t.Errorf("JSON lines = %q, want none", b)
	}
}

// A turned answer is written as it was given, with the probability as which it counts.
func TestTurned(t *testing.T) {
	given, turned := rows(), rows()
	for i := range turned {
		turned[i].Turned = true
	}
	before, after := readCSV(t, write(t, "csv", given)), readCSV(t, write(t, "csv", turned))
	for i, want := range []string{"0", "1", "0.5", "", ""} {
		if after[i]["prob_a"] != want || after[i]["turned"] != "true" || before[i]["turned"] != "false" {
			t.Errorf("row %d: prob_a %q, want %q; turned %s, before %s", i, after[i]["prob_a"], want, after[i]["turned"], before[i]["turned"])
		}
		for name := range after[i] {
			if name != "prob_a" && name != "turned" && before[i][name] != after[i][name] {
				t.Errorf("row %d: %s is %q, was given as %q", i, name, after[i][name], before[i][name])
			}
		}
	}
}
