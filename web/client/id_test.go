package client_test

import (
	"regexp"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/web/client"
)

func TestAnswerIDs(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	stream := rng.New(1, "ids", 0)
	a, b := client.NewAnswerID(stream), client.NewAnswerID(stream)
	if !form.MatchString(string(a)) || !form.MatchString(string(b)) || a == b {
		t.Errorf("ids %s and %s", a, b)
	}
	if again := client.NewAnswerID(rng.New(1, "ids", 0)); again != a {
		t.Errorf("an equal stream gives %s, want %s", again, a)
	}
}
