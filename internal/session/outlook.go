package session

import (
	"fmt"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/session/view"
)

// firstClips tells an annotator how long they wait for the first question. It says
// nothing of candidates.
func (t *training) firstClips() string {
	if t.spec.Uploads() {
		return "There are no clips yet. This page continues by itself as soon as some are uploaded."
	}
	now := t.state
	about := words.AboutTime(t.timeLeft())
	switch {
	case t.hopeless:
		return "There are no questions: the clips could not be made. Please tell the person who gave you the link."
	case t.retry != nil:
		return "The first clips could not be made. The server tries again in a moment."
	case now.Outlook.Waiting && now.Outlook.Ahead > 0:
		return "The first clips are being made. " + before(now.Outlook.Ahead, "session", "sessions") + and("; ", about) + "."
	case now.Total > 0:
		return fmt.Sprintf("The first clips are being made: step %d of %d%s.", min(now.Done+1, now.Total), now.Total, and(", ", about)) + t.slowSteps()
	default:
		return "The first clips are being made" + and(": ", about) + "." + t.slowSteps()
	}
}

// slowStep is the time of a processor, seconds, from which on a step makes the first clips take long.
const slowStep = 0.005

// slowSteps says to an annotator why the first clips take long; nothing where they do not.
func (t *training) slowSteps() string {
	if t.cfg.StepSec < slowStep {
		return ""
	}
	return " The simulation is slow; this page continues by itself when the clips are ready."
}

// toLearn keeps the number of answers after row from, up to row to, that the next training learns from.
type toLearn struct {
	from, to int64
	edits    int // rows of the log that are no replies
	answers  int
}

// yetToLearn returns how many answers the generation in use has not learnt from. Those that are held out are not among them.
func (s *schedule) yetToLearn() int {
	u := &s.toLearn
	if u.from != s.gen.BasedOn || u.to < u.from || u.edits != len(s.log.edits) {
		*u = toLearn{from: s.gen.BasedOn, to: s.gen.BasedOn, edits: len(s.log.edits)}
	}
	for ; u.to < s.log.seq(); u.to++ {
		if s.learnt(u.to + 1) {
			u.answers++
		}
	}
	return u.answers
}

// learning says which answers the generation in use has not learnt from. There are none where
// nothing is trained from answers.
func (t *training) learning() (l view.Learning) {
	if t.gen == nil || t.spec.IsArena() || t.spec.Uploads() || t.cfg.Unseen {
		return l
	}
	if l.Answers = t.yetToLearn(); l.Answers == 0 {
		return l
	}
	_, due := t.nextPoint()
	trains := t.result != nil && !t.state.FollowUp
	l.Running = !t.hopeless && (due || t.ready != nil || trains)
	l.Untrained = !t.answersTrained()
	switch {
	case !l.Running:
		l.Why = t.whyNot()
	case trains:
		now := t.state
		l.Waits = now.Outlook.Paused || now.Outlook.Waiting && now.Outlook.Ahead > 0
		l.Done, l.Total = now.Done, now.Total
		if now.BasedOn == t.log.seq() {
			l.Left = words.AboutTime(t.timeLeft())
		}
	}
	return l
}

// whyNot says to an annotator why nothing learns from the last answers; nothing where that is not known.
func (t *training) whyNot() string {
	switch {
	case t.hopeless || t.state.Err != "":
		return "The last training failed; the researcher can see why."
	case t.result == nil && t.rest == t.log.seq():
		return "A researcher has stopped the last training."
	case t.spec.AdoptAfter > 0:
		return "In this session, what is learnt comes into use only after more answers."
	case !t.done():
		return "They are learnt from when more answers have come."
	}
	return ""
}

// trainingNow is the state of the training with words on when it will end.
func (t *training) trainingNow() view.Training {
	now := t.state
	if t.result != nil {
		now.Fixed = t.fixed()
		now.Cancel = now.Fixed == ""
	}
	now.Cancelled = t.result == nil && t.rest == t.log.seq()
	if now.More = t.moreClips(); !now.Running {
		return now
	}
	now.Left = words.AboutTime(t.timeLeft())
	if t.gen == nil && t.cfg.StepSec >= slowStep && now.What != "" {
		now.What += fmt.Sprintf("; a step of this environment takes %.3g ms of processor time, so the first clips take long; shorter episodes or a faster simulation help (docs/outside.md)",
			1000*t.cfg.StepSec)
	}
	if now.Outlook.Paused {
		now.What = "paused while a shorter training of another session is done" + and("; before: ", now.What)
	}
	if now.Outlook.Waiting {
		now.What = "waiting for the trainer"
		if now.Outlook.Ahead > 0 {
			now.What += ", " + before(now.Outlook.Ahead, "training", "trainings")
		}
	}
	if now.FollowUp && !t.spec.IsArena() {
		now.What = "improving the best policy while no answers come" + and(": ", now.What)
	}
	return now
}

// timeLeft returns how long the training under way still takes, by its speed so far, or
// else by how long others like it took; 0 if neither is known.
func (t *training) timeLeft() time.Duration {
	now := t.cfg.Now()
	if left := t.pace.left(now); left > 0 {
		return left
	}
	return max(0, t.state.Outlook.Ready.Sub(now))
}

func before(n int, one, many string) string {
	if n == 1 {
		return "1 other " + one + " is before this one"
	}
	return fmt.Sprintf("%d other %s are before this one", n, many)
}

// and joins text to a sentence unless it is empty.
func and(by, text string) string {
	if text == "" {
		return ""
	}
	return by + text
}
