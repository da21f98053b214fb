package bradley_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"tiebreak/internal/people/bradley"
)

func TestHeadlineAndSum(t *testing.T) {
	t.Parallel()
	none, some := 0, 12
	two := []bradley.ReportEntrant{{Title: "New", Best: 0.97}, {Title: "Old", Best: 0.03}}
	one := []bradley.ReportPerson{{ID: "a1"}}
	for _, test := range []struct {
		name          string
		report        bradley.Report
		headline, sum string
	}{
		{"nothing", bradley.Report{Entrants: two}, "There are no answers yet.", "0 answers of 0 people; 0 equal."},
		{
			"one answer",
			bradley.Report{Entrants: two, Answers: 1, People: one},
			"The answers do not show whether “New” or “Old” is stronger, and the number of answers still needed is not known.", "1 answer of one person; 0 equal.",
		},
		{
			"more to come",
			bradley.Report{Entrants: two, Answers: 9, Ties: 2, More: &some, Asked: 20, Budget: 60, People: append(one, one...)},
			"The answers do not show yet whether “New” or “Old” is stronger; about 12 further answers may be enough.",
			"9 answers of 2 people; 2 equal. A person is asked at most 20 questions, so 60 answers take at least 3 people.",
		},
		{
			"settled",
			bradley.Report{Entrants: two, Answers: 60, More: &none, Asked: 60, Budget: 60, People: one},
			"“New” is the strongest, with a probability of 97 %.", "60 answers of one person; 0 equal. A person is asked at most 60 questions.",
		},
		{
			"a winner",
			bradley.Report{Entrants: two, Answers: 60, More: &none, Test: &bradley.ReportTest{Winner: "New", Over: true}, People: one, Asked: 5, Budget: 90},
			"“New” is the winner: people prefer it to every other policy.", "60 answers of one person; 0 equal.",
		},
		{
			"no winner",
			bradley.Report{Entrants: two, Answers: 60, More: &none, Test: &bradley.ReportTest{Over: true}, People: one},
			"No winner: the test has not found a policy that people prefer to every other one.", "60 answers of one person; 0 equal.",
		},
		{
			"no winner yet",
			bradley.Report{Entrants: two, Answers: 60, More: &none, Test: &bradley.ReportTest{Left: 12}, People: one, Asked: 5},
			"No winner yet: about 12 further answers decide.", "60 answers of one person; 0 equal. A person is asked at most 5 questions, so about 12 further answers take at least 3 people.",
		},
	} {
		if got := test.report.Headline(); got != test.headline {
			t.Errorf("%s: headline %q, want %q", test.name, got, test.headline)
		}
		if got := test.report.Sum(); got != test.sum {
			t.Errorf("%s: sum %q, want %q", test.name, got, test.sum)
		}
	}
}

// TestCut: of an arena whose clips are still being cut all of its files say so, and leave out what is not known yet.
func TestCut(t *testing.T) {
	t.Parallel()
	whole := bradley.Report{
		Asked: 9, Entrants: []bradley.ReportEntrant{{Title: "New"}}, Pairs: []bradley.ReportPair{{A: "New", B: "Old", Unasked: 3}},
		Tasks: []bradley.ReportTask{{Name: "cup", Entrants: []bradley.ReportTaskEntrant{{Title: "New"}}}},
	}
	says := func(r bradley.Report, is, sentence string) {
		t.Helper()
		for write, want := range map[string]func(io.Writer) error{
			`"clips_being_cut": ` + is + "\n": r.WriteJSON, ",0," + "0,,," + is + "\n": r.WriteCSV, ",0,0,0,,," + is + "\n": r.WriteTasks,
		} {
			var b bytes.Buffer
			if err := want(&b); err != nil || !strings.Contains(b.String(), write) {
				t.Errorf("%q is not in %s, %v", write, b.String(), err)
			}
		}
		if r.Cut() != sentence {
			t.Errorf("it says %q", r.Cut())
		}
	}
	part := whole.Partial()
	says(whole, "false", "")
	says(part, "true", "Not all clips of this arena are cut: people were asked about a part of the pairs of episodes so far.")
	if part.Asked != 0 || part.Pairs[0].Unasked != 0 || whole.Asked != 9 || whole.Pairs[0].Unasked != 3 {
		t.Errorf("of a part %+v, of all %+v", part, whole)
	}
}
