package statement

import (
	"strings"
	"testing"

	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/stopping"
	"tiebreak/internal/session/view"
)

func TestStatementInWords(t *testing.T) {
	for _, test := range []struct {
		name                      string
		basis                     view.Basis
		r                         idrl.Regret
		headline, limit, expected string
		relative                  string
	}{
		{
			"young", view.AgainstPool,
			idrl.Regret{Tolerance: 0.05, Policies: 36, Within: 0.128, Bound: 0.6104, Mean: 0.2251, Unbeaten: 0.05},
			"12 % sure that the best policy found is within 5 % of the best one known",
			"With 95 % certainty its loss is less than 62 % of the range from the worst to the best policy.", "Expected loss: 23 % of the range.",
			"Measured against the 36 different policies solved so far; better ones may exist.",
		},
		{
			"before the first answer", view.AgainstPool,
			idrl.Regret{Tolerance: 0.05, Policies: 36, Within: 0.07, Bound: 1, Mean: 0.5, Unbeaten: 0.05},
			"7 % sure that the best policy found is within 5 % of the best one known",
			"Its loss may still be as large as the whole range from the worst to the best policy.", "Expected loss: 50 % of the range.",
			"Measured against the 36 different policies solved so far; better ones may exist.",
		},
		{
			"older", view.AgainstOptima,
			idrl.Regret{Tolerance: 0.05, Policies: 43, Within: 0.93, Bound: 0.07, Mean: 0.0131, Unbeaten: 0.4},
			"93 % sure that the best policy found is within 5 % of the best there is",
			"With 95 % certainty its loss is less than 7 % of the range from the worst to the best policy.", "Expected loss: 1.3 % of the range.",
			"Measured against the 43 different policies solved so far, each of which is the best for some weights.",
		},
		{
			"bound of 0", view.AgainstSearch,
			idrl.Regret{Tolerance: 0.05, Policies: 43, Within: 0.999, Mean: 0.0004, Unbeaten: 0.979},
			"More than 99 % sure that the best policy found is within 5 % of the best one known",
			"In 97 % of draws from the posterior, no known policy is better.", "Expected loss: less than 0.1 % of the range.",
			"Measured against the best policies found so far (43); better ones may exist.",
		},
		{
			"all agree", view.AgainstEarlier,
			idrl.Regret{Tolerance: 0.05, Policies: 12, Within: 1, Unbeaten: 1},
			"More than 99 % sure that the best policy found is within 5 % of the best one known",
			"In more than 99 % of draws from the posterior, no known policy is better.", "Expected loss: 0 % of the range.",
			"Measured against the candidates and earlier policies only (12): this session was begun by a version that did not keep the policies prepared at the start.",
		},
		{
			"small bound", view.AgainstGiven,
			idrl.Regret{Tolerance: 0.05, Policies: 9, Within: 0.99, Bound: 0.0021, Mean: 0.0001, Unbeaten: 0.9},
			"99 % sure that the best policy found is within 5 % of the best one known",
			"With 95 % certainty its loss is less than 0.3 % of the range from the worst to the best policy.", "Expected loss: less than 0.1 % of the range.",
			"Measured against the 9 different policies of the rollouts; better behaviour than theirs may exist.",
		},
		{
			"mean above the bound", view.AgainstGiven,
			idrl.Regret{Tolerance: 0.05, Policies: 9, Within: 0.97, Bound: 0.0021, Mean: 0.013, Unbeaten: 0.9},
			"97 % sure that the best policy found is within 5 % of the best one known",
			"With 95 % certainty its loss is less than 0.3 % of the range from the worst to the best policy.", "Expected loss: 1.3 % of the range, because of larger losses in the other 5 %.",
			"Measured against the 9 different policies of the rollouts; better behaviour than theirs may exist.",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Of(view.Status{Best: "g0.p1", Basis: test.basis, Regret: []idrl.Regret{{}, test.r}})
			for _, line := range [][2]string{
				{got.Headline, test.headline}, {got.Limit, test.limit}, {got.Expected, test.expected}, {got.Relative, test.relative},
			} {
				if strings.ReplaceAll(line[0], "\u00a0", " ") != line[1] { // a number keeps its unit on its line
					t.Errorf("it says %q, want %q", line[0], line[1])
				}
			}
		})
	}
}

func TestStatementsAboutRecordingsSayWhatTheyAreRelativeTo(t *testing.T) {
	st := view.Status{
		Best: "g0.p1", Basis: view.AgainstGiven, Return: idrl.MeanReturn, Regret: []idrl.Regret{{Tolerance: 0.05, Policies: 2, Within: 0.67}},
		Recordings: &view.Recordings{Policies: 2, Episodes: 12, Named: true, RewardOf: "8 numbers of the column vision, as seen by front"},
	}
	plain := func(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }
	got := Of(st)
	if want := "67 % sure that the best policy found is within 5 % of the best of the 2 recorded policies, by the mean reward of a step (reward of 8 numbers of the column vision, as seen by front)"; plain(got.Headline) != want {
		t.Errorf("headline %q, want %q", got.Headline, want)
	}
	if want := "Questions are chosen, and policies compared, among the 2 recorded policies in 12 episodes, by a reward that is a weighted sum of 8 numbers of the column vision, as seen by front. " +
		"What these numbers do not tell cannot be learnt. Better behaviour than theirs may exist."; got.Relative != want {
		t.Errorf("relative to %q, want %q", got.Relative, want)
	}
	st.Recordings.Named, st.Recordings.Policies = false, 12
	if want := "within 5 % of the best of the 12 recorded episodes, by"; !strings.Contains(plain(Of(st).Headline), want) || Among(st.Recordings) != "the 12 recorded episodes" {
		t.Errorf("headline %q, want %q in it", Of(st).Headline, want)
	}
}

func TestStopInWords(t *testing.T) {
	for _, test := range []struct {
		s    stopping.Stopping
		want string
	}{
		{stopping.Stopping{Doubt: 0.1}, "Not yet. It is not known how many answers it takes until it is 90 % sure of a loss within 5 % after three answers in a row."},
		{stopping.Stopping{Doubt: 0.1, Held: 2, Left: stopping.Forecast{Known: true, Least: 1, About: 1, Most: 3}}, "At least 90 % sure of a loss within 5 % after the last 2 answers; after three in a row you can stop."},
		{stopping.Stopping{Doubt: 0.2, Held: 1}, "At least 80 % sure of a loss within 5 % after the last answer; after three in a row you can stop."},
		{stopping.Stopping{Doubt: 0.1, Left: stopping.Forecast{Known: true, Least: 6, About: 12, Most: 30}}, "Not yet: about 12 more answers (6 to 30) until it is 90 % sure of a loss within 5 % after three answers in a row."},
		{stopping.Stopping{Doubt: 0.1, Held: 3, Objections: []stopping.Objection{stopping.ObjectUntrained()}}, "This is not enough to stop, because:"},
		{stopping.Stopping{Doubt: 0.1, Held: 3, Propose: true}, "You can stop: after three answers in a row it was at least 90 % sure of a loss within 5 %."},
		{stopping.Stopping{Doubt: 0.1, Held: 3, Propose: true, ByItself: true}, "Stopped: after three answers in a row it was at least 90 % sure of a loss within 5 %."},
	} {
		if got := strings.ReplaceAll(stop(test.s, 0.05), "\u00a0", " "); got != test.want {
			t.Errorf("%+v: %q, want %q", test.s, got, test.want)
		}
	}
}
