package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync/atomic"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/session/view"
)

// errRevoked is the reply to a person whose part in the session a researcher has ended.
var errRevoked = idrl.Errorf(idrl.Forbidden, "A researcher has ended your part in this session. Thank you for your answers.")

// errSuperseded ends the run of a session when the data of a person are withdrawn from
// the journal, because the posterior in memory was learnt from them too. The next run begins with the
// data that are left, as after a restart.
var errSuperseded = idrl.Errorf(idrl.Unavailable, "the session is being started again without the data of a person who withdrew them; try again")

// Follow reads the settings that researchers have changed and applies them: the number of
// answers wanted, the annotators who were removed, whose questions it frees, and for each annotator
// whose answers are to count in another way a row of the log. It
// returns when that is durable. If the data of a person were withdrawn it returns
// errSuperseded, and Run ends.
func (s *Session) Follow(ctx context.Context) error {
	undecided, err := call(ctx, s.inbox, func() ([]idrl.AnnotatorID, error) {
		set, err := s.cfg.Journal.Settings(ctx, s.spec.ID)
		if err != nil {
			return nil, fmt.Errorf("read the settings: %w", err)
		}
		if s.superseded = set.Withdrawals != s.log.withdrew; s.superseded {
			return nil, errSuperseded
		}
		s.followSettings(set)
		return s.undecided(), nil
	})
	for _, who := range undecided {
		var ahead *edited
		if err == nil {
			ahead, err = s.ahead(ctx, func() (*edit, error) { return s.heavyDecision(who) })
		}
		if err == nil {
			_, err = ask(ctx, s.inbox, func(reply func(view.Receipt, error)) request { return s.decision(ctx, who, ahead, reply) })
		}
	}
	return err
}

// followSettings is applySettings that tells watchers of a change.
func (s *Session) followSettings(now record.Settings) (changed bool) {
	if changed = s.applySettings(now); changed {
		s.publish(live.EventSettings, "")
		s.restIfComplete()
	}
	return changed
}

// applySettings applies settings, except those that need a row of the log. It reports whether the questions of annotators
// can change by it.
func (s *Session) applySettings(now record.Settings) (changed bool) {
	changed = s.settings.apply(now)
	s.shelf.hold(now.Gold)
	s.asked.expire(s.revoked, s.cfg.Now())
	return changed
}

// settings are the configuration of a session and its present settings.
type settings struct {
	cfg     Config
	spec    idrl.SessionSpec
	shown   atomic.Pointer[idrl.SessionSpec] // what Spec returns; read from any goroutine
	state   record.SessionState
	revoked map[idrl.AnnotatorID]bool            // who may not answer any more
	wanted  map[idrl.AnnotatorID]record.Counting // how replies are to count; the log may not say so yet
	golden  record.GoldSettings
}

// apply takes over settings, and reports whether the questions of annotators can change by it.
func (s *settings) apply(now record.Settings) (changed bool) {
	is := set(now.Revoked)
	changed = s.state != now.State || now.Title != "" && s.spec.Title != now.Title || s.spec.Budget != now.Budget || s.spec.CurrentInstructions() != now.Told || s.spec.CurrentConsent() != now.Consent || !maps.Equal(s.revoked, is)
	s.state, s.spec.Title = now.State, cmp.Or(now.Title, s.spec.Title)
	s.spec.Budget, s.spec.GoldEvery = now.Budget, now.Gold.Every
	s.spec.InstructionsVersion, s.spec.InstructionsFormat, s.spec.Instructions = now.Told.Version, now.Told.Format, now.Told.Text
	s.spec.ConsentVersion, s.spec.Consent = now.Consent.Version, now.Consent.Text
	spec := s.spec
	s.shown.Store(&spec)
	s.revoked, s.wanted, s.golden = is, countingsOf(now), now.Gold
	return changed
}

// digest returns a number that differs for other settings.
func digest(set record.Settings) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%v", set)
	return h.Sum64()
}

// paused reports whether a researcher has paused the session.
func (s *settings) paused() bool { return s.state == record.StatePaused }

// closed reports whether a researcher has ended the session.
func (s *settings) closed() bool { return s.state.Ended() }

// Spec returns what the session is made of now.
func (s *settings) Spec() idrl.SessionSpec { return *s.shown.Load() }

// seesQuestions reports whether questions are chosen by what people see.
func (s *settings) seesQuestions() bool { return s.spec.Questions == idrl.AnswerableQuestions }

// fixedPolicies reports whether no policy is trained: all there are were uploaded, or acted in rollouts
// that were imported.
func (s *settings) fixedPolicies() bool { return s.spec.Uploads() || s.cfg.Steps != nil }

// title returns what people call c; nothing if it has no name of its own.
func (s *settings) title(c idrl.Candidate) string {
	if s.cfg.Title == nil {
		return ""
	}
	return s.cfg.Title(c)
}

// called returns the name of a policy for researchers.
func (s *settings) called(c idrl.Candidate) string {
	if t := s.title(c); t != "" {
		return t
	}
	return string(c.ID)
}

// reject tells the trainer that its last result is of no use.
func (s *settings) reject(why error) {
	if s.cfg.Rejected != nil {
		s.cfg.Rejected(why)
	}
}

// takes returns an error of kind Invalid if a says what the session does not ask for.
func (s *settings) takes(a idrl.Answer) error {
	switch {
	case a.Much && !s.spec.Strength:
		return idrl.Errorf(idrl.Invalid, "this session does not accept \"much better\"; reload the page")
	case a.Remark != "" && !s.spec.Remarks:
		return idrl.Errorf(idrl.Invalid, "this session takes no remarks about both clips; reload the page")
	case a.WrongMS != 0 && (s.spec.Kind != idrl.JudgeClip || a.Rating == idrl.Success):
		return idrl.Errorf(idrl.Invalid, "when it went wrong is asked only of failures and partial successes; reload the page")
	case s.spec.Kind == idrl.JudgeClip && a.Choice == idrl.Rated && a.Rating != idrl.Verdict(a.Rating):
		return idrl.Errorf(idrl.Invalid, "this session asks for a verdict: the rating must be %v (failure), %v (partial) or %v (success); got %v", idrl.Failure, idrl.Partial, idrl.Success, a.Rating)
	}
	return nil
}

func set(ids []idrl.AnnotatorID) map[idrl.AnnotatorID]bool {
	out := map[idrl.AnnotatorID]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// countingsOf returns how replies are to count.
func countingsOf(now record.Settings) map[idrl.AnnotatorID]record.Counting {
	out := map[idrl.AnnotatorID]record.Counting{}
	for who, seq := range now.Turned {
		out[who] = record.Counting{Turned: seq}
	}
	for _, who := range now.LeftOut {
		out[who] = record.Counting{Out: true}
	}
	return out
}

// undecided returns, in order, the annotators whose replies count in another way by the log than by the settings.
func (s *ledger) undecided() (out []idrl.AnnotatorID) {
	for who := range s.log.how {
		if !s.follows(who) {
			out = append(out, who)
		}
	}
	for who := range s.wanted {
		if _, known := s.log.how[who]; !known && !s.follows(who) {
			out = append(out, who)
		}
	}
	slices.Sort(out)
	return out
}

// follows reports whether the log and the settings agree on how the replies of an annotator count.
func (s *ledger) follows(who idrl.AnnotatorID) bool { return s.log.how[who].Follows(s.wanted[who]) }

// decision returns the request that adds to the log how the settings, at the time when it is served, have the replies of an
// annotator count. ahead is the history after it, if that was computed before; else nil.
func (s *Session) decision(ctx context.Context, who idrl.AnnotatorID, ahead *edited, reply func(view.Receipt, error)) request {
	return request{reply: reply, write: func() (logEntry, error) { return s.decide(who, ahead) }, after: func() {
		s.adoptIfDue(ctx)
		s.publish(live.EventSettings, "")
	}}
}

func (s *Session) decide(who idrl.AnnotatorID, ahead *edited) (logEntry, error) {
	if s.follows(who) {
		return logEntry{}, nil
	}
	a := idrl.Answer{ID: idrl.AnswerID(rand.Text()), Annotator: who, Choice: idrl.TakenIn}
	switch want := s.wanted[who]; {
	case want.Out:
		a.Choice = idrl.LeftOut
	case want.Turned > 0:
		a.Choice = idrl.Turned
	}
	history, err := s.edited(ahead, s.decided(who), func() (edit, error) { return s.recount(who) })
	if err != nil {
		return logEntry{}, fmt.Errorf("belief after %q of the answers of %s: %w", a.Choice, who, err)
	}
	return s.row(a, history), nil
}

// noteSuperseded reports whether a write failed with err because the journal has been
// changed by a withdrawal of data.
func (s *Session) noteSuperseded(ctx context.Context, err error) bool {
	if idrl.KindOf(err) != idrl.Conflict {
		return false
	}
	set, err := s.cfg.Journal.Settings(context.WithoutCancel(ctx), s.spec.ID)
	s.superseded = err == nil && set.Withdrawals != s.log.withdrew
	return s.superseded
}
