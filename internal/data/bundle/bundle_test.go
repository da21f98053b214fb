package bundle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
)

// read returns the rows of a table by name of column.
func read(t testing.TB, f files, name string) (out []map[string]any) {
	t.Helper()
	if f[name] == nil {
		t.Fatalf("there is no %s", name)
	}
	b := f[name].Bytes()
	file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	must(t, err)
	r := parquet.NewReader(file)
	defer r.Close()
	for range r.NumRows() {
		row := map[string]any{}
		must(t, r.Read(&row))
		out = append(out, row)
	}
	return out
}

func metaOf(t testing.TB, f files) (m struct {
	Format   string
	Version  int `json:"schema_version"`
	Complete bool
	Answers  string
	Cursor   struct {
		Seq   int64
		Label string `json:"label_id"`
	}
	Counts map[string]int
	Rows   map[string]int
	Files  []struct {
		Name, SHA256 string
		Bytes        int
	}
},
) {
	t.Helper()
	must(t, json.Unmarshal(f["meta.json"].Bytes(), &m))
	return m
}

// The same state of the database gives the same bytes, and meta.json lists every other file
// with its checksum.
func TestBytes(t *testing.T) {
	db := studied(t, 60)
	cfg := configured(db)
	cfg.Clips = "gif"
	one, two := write(t, cfg), write(t, cfg)
	if !slices.Equal(slices.Sorted(maps.Keys(one)), slices.Sorted(maps.Keys(two))) {
		t.Fatal("other files the second time")
	}
	listed := map[string]string{}
	for _, f := range metaOf(t, one).Files {
		listed[f.Name] = f.SHA256
	}
	for name, b := range one {
		if !bytes.Equal(b.Bytes(), two[name].Bytes()) {
			t.Errorf("%s has other bytes the second time", name)
		}
		if sum := sha256.Sum256(b.Bytes()); name != "meta.json" && listed[name] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: checksum %q is not that of the file", name, listed[name])
		}
	}
	if len(listed) != len(one)-1 {
		t.Errorf("%d files are listed of %d", len(listed), len(one)-1)
	}
}

// Labels are the answers as they were given; comparisons are those that count and state a
// preference. Undone answers are marked, or left out.
func TestAnswers(t *testing.T) {
	db := studied(t, 60)
	f := write(t, configured(db))
	labels, comparisons := read(t, f, "labels.parquet"), read(t, f, "comparisons.parquet")
	if len(labels) != 60 || labels[2]["undone"] != true || labels[2]["is_current"] != false || labels[3]["undone"] != false {
		t.Errorf("%d labels; the third: %v", len(labels), labels[2])
	}
	by := map[string]map[string]any{}
	stated := 0
	for _, l := range labels {
		by[l["label_id"].(string)] = l
		if l["is_current"] == true && l["prob_a"] != nil {
			stated++
		}
	}
	for _, c := range comparisons {
		l := by[c["label_id"].(string)]
		want := map[string]float64{"a": 1, "b": 0, "equal": 0.5}[c["choice"].(string)]
		if l["is_current"] != true || c["prob_a"] != want || l["prob_a"] != want || c["segment_a"] != l["segment_a"] || c["choice"] != l["choice"] {
			t.Errorf("comparison %v of label %v", c, l)
		}
	}
	if len(comparisons) != stated || stated < 50 || by["answer-29"]["choice"] != "skip" || by["answer-31"]["choice"] != "cant_tell" || by["answer-31"]["prob_a"] != nil {
		t.Errorf("%d comparisons of %d that state a preference; 29: %v", len(comparisons), stated, by["answer-29"])
	}
	cfg := configured(db)
	cfg.Counting = true
	counting := write(t, cfg)
	if rows := read(t, counting, "labels.parquet"); len(rows) != 59 || metaOf(t, counting).Complete || counting["tiebreak/answer.jsonl"] != nil || counting["events.parquet"] != nil {
		t.Errorf("counting: %d labels, complete %v", len(rows), metaOf(t, counting).Complete)
	}
	for name, b := range counting {
		if bytes.Contains(b.Bytes(), []byte("answer-3\"")) {
			t.Errorf("%s tells of the answer that was undone", name)
		}
	}
}

// Turned answers are in the labels as they were given, marked, and in all else as they count.
func TestTurnedAnswers(t *testing.T) {
	db := studied(t, 60)
	before := write(t, configured(db))
	must(t, db.DecideAnswers(t.Context(), study, "a2", idrl.Turned, "Ada", t0.Add(time.Hour)))
	must(t, db.Append(t.Context(), study, record.Row{Answer: idrl.Answer{ID: "turned", Seq: 62, Annotator: "a2", Choice: idrl.Turned, ReceivedAt: t0}, After: record.Snapshot{Seq: 62}}))
	after := write(t, configured(db))
	opposite := map[any]any{"a": "b", "b": "a", 1.: 0., 0.: 1.}
	changes := func(table string, columns ...string) (n int) {
		t.Helper()
		old := read(t, before, table)
		for i, row := range read(t, after, table) {
			want := maps.Clone(old[i])
			if row["annotator_id"] == "a2" {
				want["turned"] = true
				for _, column := range columns {
					if v, is := opposite[want[column]]; is {
						want[column] = v
						n++
					}
				}
			}
			if d := cmp.Diff(want, row); d != "" {
				t.Errorf("row %d of %s (-want +got):\n%s", i, table, d)
			}
		}
		return n
	}
	stated := changes("labels.parquet", "prob_a")
	stated-- // one is undone
	if n := changes("comparisons.parquet", "prob_a", "choice"); n != 2*stated || stated < 20 {
		t.Errorf("%d values of comparisons are exchanged, %d of labels", n, stated)
	}
	trl := func(f files) (rows []map[string]string) {
		for line := range bytes.Lines(f["adapters/trl.jsonl"].Bytes()) {
			m := map[string]string{}
			must(t, json.Unmarshal(line, &m))
			rows = append(rows, m)
		}
		return rows
	}
	old, exchanged := trl(before), 0
	for i, row := range trl(after) {
		if row["chosen_segment"] == old[i]["rejected_segment"] && row["rejected_segment"] == old[i]["chosen_segment"] {
			exchanged++
		}
	}
	if exchanged != stated {
		t.Errorf("%d of %d preferences are exchanged", exchanged, stated)
	}
	for _, array := range []string{"adapters/imitation.npz", "adapters/ipl.npz"} {
		if bytes.Equal(before[array].Bytes(), after[array].Bytes()) {
			t.Errorf("%s has the answers as they were given", array)
		}
	}
	events := read(t, after, "events.parquet")
	if last := events[len(events)-1]; last["event"] != "turned" || last["annotator_id"] != "a2" || last["seq"] != int64(62) {
		t.Errorf("the last event is %v", last)
	}
	for _, a := range read(t, after, "annotators.parquet") {
		if want := map[any]int64{"a1": 0, "a2": 62}[a["annotator_id"]]; a["turned_to_seq"] != want {
			t.Errorf("%v is turned up to %v, want %d", a["annotator_id"], a["turned_to_seq"], want)
		}
	}
}

// No clip stands in two splits, and both have some.
func TestSplit(t *testing.T) {
	db := studied(t, 400)
	f := write(t, configured(db))
	in, n := map[string]string{}, map[string]int{}
	segment := map[string]string{} // to its trajectory
	for _, s := range read(t, f, "segments.parquet") {
		segment[s["segment_id"].(string)] = s["episode_id"].(string)
	}
	for _, c := range read(t, f, "comparisons.parquet") {
		split, ok := c["split"].(string)
		n[split]++
		if !ok {
			continue
		}
		for _, side := range []string{"segment_a", "segment_b"} {
			trajectory := segment[c[side].(string)]
			if was, ok := in[trajectory]; ok && was != split {
				t.Errorf("trajectory %s stands in %s and in %s", trajectory, was, split)
			}
			in[trajectory] = split
		}
	}
	counts := metaOf(t, f).Counts
	if n["train"] < 100 || n["test"] < n["train"]/10 || counts["train"] != n["train"] || counts["test"] != n["test"] || counts["without_split"] != n[""] {
		t.Errorf("splits %v", n)
	}
}

// Without trajectories for tests every comparison is in a part by pairs; with them, which are stricter, none is.
func TestSplitByPair(t *testing.T) {
	f := write(t, configured(studied(t, 400)))
	of, n := map[[2]string]string{}, map[string]int{}
	for _, c := range read(t, f, "comparisons.parquet") {
		a, b, part := c["segment_a"].(string), c["segment_b"].(string), c["split_by_pair"].(string)
		pair := [2]string{min(a, b), max(a, b)}
		if was, ok := of[pair]; ok && was != part {
			t.Errorf("the pair %v is in %s and in %s", pair, was, part)
		}
		of[pair] = part
		n[part]++
	}
	counts := metaOf(t, f).Counts
	if n["train"] == 0 || n["test"] == 0 || n["validation"] == 0 || n["train"]+n["validation"]+n["test"] != counts["comparisons"] || counts["pair_train"] != n["train"] || counts["pair_validation"] != n["validation"] || counts["pair_test"] != n["test"] {
		t.Errorf("parts %v, counts %v", n, counts)
	}
	card := f["README.md"].String()
	if !strings.Contains(card, fmt.Sprintf("%d comparisons are for training, %d for validation and %d for tests", n["train"], n["validation"], n["test"])) || !strings.Contains(card, "a clip may be in several") {
		t.Errorf("the card does not say how it is divided by pairs:\n%s", card)
	}
}

// A bundle after a cursor has what came later, and the cursor of the first leads there.
func TestCursor(t *testing.T) {
	db := studied(t, 60)
	all := write(t, configured(db))
	m := metaOf(t, all)
	if m.Cursor.Seq != 61 || m.Cursor.Label != "answer-60" || !m.Complete {
		t.Fatalf("cursor %+v", m.Cursor)
	}
	for _, after := range []string{"40", "answer-40"} {
		cfg := configured(db)
		cfg.After = after
		part := write(t, cfg)
		labels := read(t, part, "labels.parquet")
		if len(labels) != 20 || labels[0]["seq"] != int64(41) || metaOf(t, part).Complete || metaOf(t, part).Cursor != m.Cursor {
			t.Errorf("after %s: %d labels, the first %v", after, len(labels), labels[0])
		}
		events := read(t, part, "events.parquet")
		if last := events[len(events)-1]; len(events) != 21 || last["event"] != "undo" || last["label_id"] != "answer-3" {
			t.Errorf("after %s: %d events, the last %v", after, len(events), last)
		}
		shown := map[any]bool{}
		for _, l := range labels {
			shown[l["segment_a"]], shown[l["segment_b"]] = true, true
		}
		if got := read(t, part, "segments.parquet"); len(got) != len(shown) {
			t.Errorf("after %s: %d segments, want the %d that the labels show", after, len(got), len(shown))
		}
	}
	for after, kind := range map[string]idrl.Kind{"62": idrl.Invalid, "no-answer": idrl.NotFound, "-1": idrl.NotFound, "4x": idrl.NotFound} {
		cfg := configured(db)
		cfg.After = after
		if err := bundle.Write(t.Context(), files{}, cfg); idrl.KindOf(err) != kind {
			t.Errorf("after %s: %v, want kind %d", after, err, kind)
		}
	}
}

// Trajectories are what was recorded, and segments are parts of them: the features of a
// segment are the sum of those of its steps.
func TestTrajectories(t *testing.T) {
	f := write(t, configured(studied(t, 200)))
	of := map[string]map[string]any{}
	for _, r := range read(t, f, "trajectories.parquet") {
		of[r["episode_id"].(string)] = r
		n := int(r["episode"].(int64))
		want := episode(n)
		obs := r["observations"].([]any)
		if len(obs) != episodeSteps+1 || len(r["actions"].([]any)) != episodeSteps || obs[5].([]any)[1] != want.Obs[5][1] || r["terminated"] != (want.End == idrl.Terminated) || r["env_version"] != int64(3) {
			t.Errorf("episode %d: %v", n, r)
		}
	}
	for _, s := range read(t, f, "segments.parquet") {
		rows := of[s["episode_id"].(string)]["features"].([]any)
		sum := 0.0
		for _, row := range rows[s["start_step"].(int64):s["end_step"].(int64)] {
			sum += row.([]any)[0].(float64)
		}
		if d := sum - s["features"].([]any)[0].(float64); d > 1e-12 || d < -1e-12 {
			t.Errorf("segment %v: features differ by %v", s["segment_id"], d)
		}
		e := int(of[s["episode_id"].(string)]["episode"].(int64))
		if want := fmt.Sprintf("g0.p%d", e%6); e%6 == 5 && s["policy_id"] != nil || e%6 < 5 && s["policy_id"] != want || s["trajectory"] != string(acted(e)) {
			t.Errorf("segment %v of episode %d is of policy %v, trajectory %v", s["segment_id"], e, s["policy_id"], s["trajectory"])
		}
	}
}

// A person who has withdrawn is in no file, and nobody's name is.
func TestWithdrawn(t *testing.T) {
	db := studied(t, 60)
	_, err := db.Withdraw(t.Context(), study, "a2", "", t0.Add(time.Hour))
	must(t, err)
	f := write(t, configured(db))
	for _, l := range read(t, f, "labels.parquet") {
		if l["annotator_id"] != "a1" {
			t.Errorf("label %v", l)
		}
	}
	if m := metaOf(t, f); m.Counts["labels"] != 30 || m.Counts["annotators"] != 1 || m.Counts["annotators_withdrawn"] != 1 {
		t.Errorf("counts %v", m.Counts)
	}
	for name, b := range f {
		for _, secret := range []string{"Ada", "Grace", "answer-1\"", "answer-11\""} {
			if bytes.Contains(b.Bytes(), []byte(secret)) {
				t.Errorf("%s holds %q", name, secret)
			}
		}
	}
}
