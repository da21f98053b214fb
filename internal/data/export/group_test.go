package export_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
)

// An answer to a group is exported as the nine comparisons that it implies, which say that they
// are one answer; what implies none has no clips. Other sessions have no such columns.
func TestGroupsAreExportedAsComparisons(t *testing.T) {
	q := idrl.NewGroup("c1", "c2", "c3", "c4", "c5", "c6")
	var clips []idrl.Clip
	for i, id := range q.Clips {
		clips = append(clips, idrl.Clip{ID: id, Phi: []float64{float64(i + 1), 0, 0}})
	}
	answered := idrl.Answer{ID: "id1", Seq: 1, Query: q.ID, Annotator: "an1", Choice: idrl.BestWorst, Best: "c", Worst: "a", Order: "cafbed"}
	unclear := idrl.Answer{ID: "id2", Seq: 2, Query: q.ID, Annotator: "an1", Choice: idrl.CantTell, Order: "abcdef"}
	list := []export.Row{{Answer: answered, Query: q, Clips: clips}, {Answer: unclear, Query: q, Clips: clips}}
	grouped := spec
	grouped.Kind = idrl.GroupClips
	var out bytes.Buffer
	must.Do(t, export.Write(&out, "jsonl", grouped, from(list)))
	type pair struct {
		Label, A, B, Choice any
		Group, Part, At, Bt any
	}
	var got []pair
	for _, v := range readJSONL(t, out.Bytes()) {
		if v["seq"] == 1. && (v["prob_a"] != 1. || v["kind"] != "clip_group" || v["query_id"] != string(q.ID)) {
			t.Errorf("record %v", v)
		}
		got = append(got, pair{v["label_id"], v["clip_a"], v["clip_b"], v["choice"], v["group_id"], v["group_part"], v["position_a"], v["position_b"]})
	}
	want := []pair{
		{"id1.1", "c3", "c1", "a", "id1", 1., 1., 2.},
		{"id1.2", "c3", "c2", "a", "id1", 2., 1., 4.},
		{"id1.3", "c3", "c4", "a", "id1", 3., 1., 6.},
		{"id1.4", "c3", "c5", "a", "id1", 4., 1., 5.},
		{"id1.5", "c3", "c6", "a", "id1", 5., 1., 3.},
		{"id1.6", "c2", "c1", "a", "id1", 6., 4., 2.},
		{"id1.7", "c4", "c1", "a", "id1", 7., 6., 2.},
		{"id1.8", "c5", "c1", "a", "id1", 8., 5., 2.},
		{"id1.9", "c6", "c1", "a", "id1", 9., 3., 2.},
		{"id2", nil, nil, "cant_tell", "id2", nil, nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exported pairs (-want +got):\n%s", diff)
	}
	var plain bytes.Buffer
	if err := export.Write(&plain, "csv", spec, from(nil)); err != nil || strings.Contains(plain.String(), "group") {
		t.Errorf("the header of other sessions is %q, error %v", plain.String(), err)
	}
	doc, err := os.ReadFile("../../../docs/datasets.md")
	for _, name := range []string{"group_id", "group_part", "position_a", "position_b"} {
		if err != nil || !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/datasets.md does not describe %s, %v", name, err)
		}
	}
}
