package authors_test

import (
	"testing"

	"tiebreak/internal/lab/experiment/authors"
)

// IDRL with 20 updates is the best row of the paper's table in both corridors, and
// fewer updates are worse; baselines take 2 to 3 hours.
func TestCorridor(t *testing.T) {
	for _, figure := range []string{"swimmer-corridor", "ant-corridor"} {
		last := 0.0
		for _, method := range []string{"idrl:20", "idrl:4", "idrl:2", "idrl:1"} {
			c, ok := authors.CorridorOf(figure, method)
			if !ok || !(c.Regret > last) || !(c.SE > 0) {
				t.Errorf("%s, %s: %+v after a regret of %v", figure, method, c, last)
			}
			last = c.Regret
		}
		for _, method := range []string{"uniform", "igr", "eir"} {
			if c, ok := authors.CorridorOf(figure, method); !ok || c.Hours != "2 to 3" || !(c.Regret > last) {
				t.Errorf("%s, %s: %+v, want more than %v in 2 to 3 hours", figure, method, c, last)
			}
		}
	}
	if c, ok := authors.CorridorOf("swimmer-corridor", "idrl:20"); !ok || c != (authors.Corridor{Regret: 2.4, SE: 0.8, Hours: "about 40"}) {
		t.Errorf("%+v", c)
	}
	if _, ok := authors.CorridorOf("chain", "uniform"); ok {
		t.Error("a corridor in the chain")
	}
}
