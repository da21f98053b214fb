package export_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
)

// practised is one answer to a practice question, which is right.
func practised() (record.Practice, record.Known) {
	q, _ := comparison()
	return record.Practice{
		ID: "p1", Annotator: "an1", Version: 3, Right: true, Judged: true, ReceivedAt: shown,
		Answer: idrl.Answer{Choice: idrl.ChoseA, Left: idrl.SideB, ShownAt: shown, ResponseMS: 800, HiddenMS: 5, Loops: 1, Input: "touch"},
	}, record.Known{Version: 3, Query: q, Use: record.ForPractice, Choice: idrl.ChoseA, Note: "It runs."}
}

func TestWritePractice(t *testing.T) {
	p, k := practised()
	silent := p
	silent.Answer.Choice, silent.Answer.Reason, silent.Right, silent.Judged = idrl.Skip, "broken", false, false
	rating, rate := p, k
	rate.Query = idrl.Query{ID: "q2", Kind: idrl.RateClip, Clips: []idrl.ClipID{"c1"}}
	rate.Choice, rate.Rating, rate.Note = idrl.Rated, 0.4, ""
	rating.Answer.Choice, rating.Answer.Rating, rating.Answer.Left = idrl.Rated, -1, ""
	var out bytes.Buffer
	for _, row := range []struct {
		p record.Practice
		k record.Known
	}{{p, k}, {silent, k}, {rating, rate}} {
		must.Do(t, export.WritePractice(&out, "s1", row.p, row.k))
	}
	want := `{"practice_id":"p1","session_id":"s1","annotator_id":"an1","known_version":3,"query_id":"q1","clip_a":"c1","clip_b":"c2","choice":"a","rating":null,"reason":null,"left":"b","right_choice":"a","right_rating":null,"right":true,"note":"It runs.","shown_at":"2026-11-20T11:00:00.123Z","received_at":"2026-11-20T11:00:00.123Z","response_ms":800,"hidden_ms":5,"loops":1,"input":"touch"}
{"practice_id":"p1","session_id":"s1","annotator_id":"an1","known_version":3,"query_id":"q1","clip_a":"c1","clip_b":"c2","choice":"skip","rating":null,"reason":"broken","left":"b","right_choice":"a","right_rating":null,"right":null,"note":"It runs.","shown_at":"2026-11-20T11:00:00.123Z","received_at":"2026-11-20T11:00:00.123Z","response_ms":800,"hidden_ms":5,"loops":1,"input":"touch"}
{"practice_id":"p1","session_id":"s1","annotator_id":"an1","known_version":3,"query_id":"q2","clip_a":"c1","clip_b":null,"choice":"rated","rating":-1,"reason":null,"left":null,"right_choice":"rated","right_rating":0.4,"right":true,"note":null,"shown_at":"2026-11-20T11:00:00.123Z","received_at":"2026-11-20T11:00:00.123Z","response_ms":800,"hidden_ms":5,"loops":1,"input":"touch"}
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("practice (-want +got):\n%s", diff)
	}
}

// The document describes the fields, in their order.
func TestTheDocumentListsThePracticeFields(t *testing.T) {
	p, k := practised()
	var out bytes.Buffer
	must.Do(t, export.WritePractice(&out, "s1", p, k))
	var fields []string
	dec := json.NewDecoder(&out)
	for depth := 0; ; {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if token == json.Delim('{') || token == json.Delim('}') {
			depth++
			continue
		}
		fields = append(fields, reflect.ValueOf(token).String())
		if _, err := dec.Token(); err != nil { // the value
			t.Fatal(err)
		}
	}
	var names []string
	for _, d := range document(t, "Practice") {
		names = append(names, d.name)
	}
	if diff := cmp.Diff(strings.Join(fields, " "), strings.Join(names, " ")); diff != "" {
		t.Errorf("docs/datasets.md lists other fields (-file +document):\n%s", diff)
	}
}
