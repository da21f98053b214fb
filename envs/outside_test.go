package envs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
)

const hello = `{"id":1,"result":{"protocol":1,"name":"cart","version":"2.0","title":"A cart","observation":1,"action":{"n":2},` +
	`"features":["place"],"horizon":10,"step_seconds":0.1,"draws":"scene"}}`

// outsideFolder writes descriptions and the files beside them.
func outsideFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadOutside(t *testing.T) {
	files := map[string]string{
		"cart.json": `{"command":["sh","cart.sh"],"description":"Push it."}`, "cart.sh": "read line; echo '" + hello + "'",
		"dead.json": `{"command":["false"]}`, "odd.json": `{"commando":["sh"]}`,
	}
	dir := outsideFolder(t, files)
	list, err := LoadOutside(dir, "", false)
	if err != nil || len(list) != 3 {
		t.Fatalf("%d environments, error %v", len(list), err)
	}
	cart := list[0]
	if cart.ID != "outside-cart" || cart.Title != "A cart" || cart.Description != "Push it." || cart.Unavailable != nil || !strings.HasPrefix(cart.Version, "2.0-") {
		t.Errorf("entry %+v", cart)
	}
	if spec := cart.New(rng.New(1, "layout", 0)).Spec(); spec.ID != cart.ID || !slices.Equal(spec.FeatureNames, []string{"place"}) || spec.Actions.Dim() != 2 {
		t.Errorf("spec %+v", spec)
	}
	for i, says := range map[int]string{1: "outside-exited", 2: "commando"} {
		if list[i].Unavailable == nil || !strings.Contains(list[i].Unavailable.Error(), says) {
			t.Errorf("%s is unavailable because %v, want %q", list[i].ID, list[i].Unavailable, says)
		}
	}
	if !strings.Contains(cart.Uncaged, "use the network") {
		t.Errorf("of walls that are missing it says %q", cart.Uncaged)
	}
	// A session keeps the version that it was made with, and is told of another one.
	ref := cart.Ref()
	if _, err := list.Find(ref); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cart.sh"), []byte(files["cart.sh"]+" # faster"), 0o600); err != nil {
		t.Fatal(err)
	}
	later, err := LoadOutside(filepath.Join(dir, "cart.json"), "", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := later.Find(ref); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("a changed program is found with error %v", err)
	}
	if _, err := Catalogue().Find(ref); idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "--outside") {
		t.Errorf("a missing program is found with error %v", err)
	}
}

func TestLoadOutsideRefuses(t *testing.T) {
	many := map[string]string{}
	for i := range maxOutside + 1 {
		many[strings.Repeat("a", i+1)+".json"] = `{}`
	}
	for _, path := range []string{"/nonexistent", outsideFolder(t, many)} {
		if _, err := LoadOutside(path, "", false); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want kind Invalid", path, err)
		}
	}
	if list, err := LoadOutside("", "", false); list != nil || err != nil {
		t.Errorf("nothing gives %v, error %v", list, err)
	}
}
