package figure

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"tiebreak/internal/idrl"
)

// A comparison has one line for each session with its intervals, all on one scale, and says of what they are.
func TestCompare(t *testing.T) {
	list := []Compared{
		{Session: "a", Title: hostile, Regret: []idrl.Regret{{Mean: 0.5, Bound: 1}, {Seq: 41, Answers: 41, Mean: 0.9, Bound: 1}, {Seq: 42, Answers: 40, Mean: 0.9, Bound: 1}, {Seq: 43, Answers: 40, Mean: 0.1, Bound: 0.25}}, About: About{Answers: 40, People: 2, Seed: 7}},
		{Session: "b", Title: "Second", Regret: []idrl.Regret{{Mean: 0.4, Bound: 0.8}, {Seq: 35, Answers: 20, Mean: 0.2, Bound: 0.5}}, About: About{Answers: 20, People: 1, Seed: 8}},
		{Session: "c", Title: "Network"},
	}
	// After row 41 an answer was taken back, and row 43 is a skip: the present statement takes the place of both.
	d, err := Compare(list, "tiebreak 1.2")
	if err != nil || d.Empty {
		t.Fatalf("%+v, %v", d, err)
	}
	file := string(d.File())
	for dec := xml.NewDecoder(strings.NewReader(file)); ; {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("no XML: %v", err)
		}
	}
	// The plot is from x = 52 (no answers) to 460 (40 answers), and from y = 220 (0 %) to 24 (100 %).
	for _, want := range []string{
		`d="M52 122L460 200.4"`, `d="M52 141.6L256 180.8"`, // means of 50, 10, 40 and 20 %
		`x1="460" y1="200.4" x2="460" y2="171"`, // up to 25 %
		`x1="258" y1="180.8" x2="258" y2="122"`, // 2 px aside, up to 50 %
		"Second, after 20 answers: expected loss 20 %, at most 50 % with a probability of 95 %", "Network (states no loss)",
	} {
		if !strings.Contains(file, want) {
			t.Errorf("the figure lacks %q:\n%s", want, file)
		}
	}
	for _, want := range []string{"“Second”: n = 20 answers of one person, seed 8", "n = 40 answers of 2 people, seed 7", "tiebreak 1.2."} {
		if !strings.Contains(d.Caption, want) {
			t.Errorf("the caption lacks %q: %s", want, d.Caption)
		}
	}
	if d, err := Compare(list[2:], "tiebreak"); err != nil || !d.Empty {
		t.Errorf("of sessions that state nothing: %+v, %v", d, err)
	}
}
