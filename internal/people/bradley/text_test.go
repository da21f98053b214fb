package bradley_test

import (
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
			bradley.Report{Entrants: two, Answers: 60, More: &none, Test: &bradley.ReportTest{Winner: "New", Over: true}, People: one},
			"“New” is the winner: people prefer it to each other policy.", "60 answers of one person; 0 equal.",
		},
		{
			"no winner",
			bradley.Report{Entrants: two, Answers: 60, More: &none, Test: &bradley.ReportTest{Over: true}, People: one},
			"No winner: the test has not found a policy that people prefer to each other one.", "60 answers of one person; 0 equal.",
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
