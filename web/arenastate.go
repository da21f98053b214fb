package web

import "tiebreak/internal/session/view"

// arenaOver says in two words why a running arena asks no more questions; it is empty while it asks. decided is whether its test is over.
func arenaOver(decided bool, answers, budget int) string {
	switch {
	case decided:
		return "test over"
	case budget > 0 && answers >= budget:
		return "all answered"
	}
	return ""
}

// untilText says until when a running arena asks questions. asking is the text for an arena without a test that still asks.
func untilText(st view.Status, tests bool, asking string) string {
	switch over := arenaOver(st.Decided, st.Answers, st.Budget); {
	case st.Decided:
		return "The test for a winner has ended, and no more questions are asked."
	case over != "":
		return "The number of answers wanted is reached, and no more questions are asked."
	case tests:
		return "Questions are asked until the test for a winner ends, or the number of answers wanted is reached."
	}
	return asking
}

// arenaTraining says whether the clips of an arena are still being made.
func arenaTraining(st view.Status) string {
	now := st.Training
	far := ""
	if now.Total > 0 {
		far = " (" + now.What + after("; ", now.Left) + ")"
	}
	switch {
	case now.Err != "":
		return now.Err
	case now.More:
		return "People are asked about the clips that are cut so far; the others follow by themselves, all tasks alike" + far + "."
	case st.BasedOn >= 0:
		return ""
	}
	return "The clips of the policies are being made" + far + ". People who open the link wait until the first clips are ready."
}
