package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"

	"tiebreak/internal/idrl"
)

// errRevoked is the reply to a person whose part in the session a researcher has ended.
var errRevoked = idrl.Errorf(idrl.Forbidden, "A researcher has ended your part in this session. Thank you for your answers.")

// errSuperseded ends the run of a session when the data of a person are withdrawn from
// the journal: what is in memory was learnt from them too. The next run begins with what
// is left, as after a restart.
var errSuperseded = idrl.Errorf(idrl.Unavailable, "the session is being started again without the data of a person who withdrew them; try again")

// Follow reads what researchers want of the session and does it: it asks for more
// answers or fewer, refuses who was removed and frees their questions, and adds a
// row to the log for each annotator whose answers are to count otherwise than they do. It
// returns when that is durable. Where the data of a person were withdrawn it returns
// errSuperseded, and Run ends.
func (s *Session) Follow(ctx context.Context) error {
	undecided, err := call(ctx, s, func() ([]idrl.AnnotatorID, error) {
		set, err := s.cfg.Journal.Settings(ctx, s.spec.ID)
		if err != nil {
			return nil, fmt.Errorf("read the settings: %w", err)
		}
		if s.superseded = set.Withdrawals != s.log.withdrew; s.superseded {
			return nil, errSuperseded
		}
		if s.applySettings(set) {
			s.publish(idrl.EventSettings, "")
			s.restIfComplete()
		}
		return s.undecided(), nil
	})
	for _, who := range undecided {
		var ahead *edited
		if err == nil {
			ahead, err = s.ahead(ctx, func() (*edit, error) { return s.heavyDecision(who) })
		}
		if err == nil {
			_, err = ask(ctx, s, func(reply func(idrl.Receipt, error)) request { return s.decision(ctx, who, ahead, reply) })
		}
	}
	return err
}

// apply takes in what researchers want, but for the log. It reports whether who is
// asked what can change by it.
func (s *Session) applySettings(now idrl.Settings) (changed bool) {
	is := set(now.Revoked)
	changed = s.state != now.State || now.Title != "" && s.spec.Title != now.Title || s.spec.Budget != now.Budget || s.spec.CurrentInstructions() != now.Told || s.spec.CurrentConsent() != now.Consent || !maps.Equal(s.revoked, is)
	s.state, s.spec.Title = now.State, cmp.Or(now.Title, s.spec.Title)
	s.spec.Budget, s.spec.GoldEvery = now.Budget, now.Gold.Every
	s.spec.InstructionsVersion, s.spec.InstructionsFormat, s.spec.Instructions = now.Told.Version, now.Told.Format, now.Told.Text
	s.takeGold(now.Gold)
	s.spec.ConsentVersion, s.spec.Consent = now.Consent.Version, now.Consent.Text
	spec := s.spec
	s.shown.Store(&spec)
	s.revoked, s.wanted = is, countingsOf(now)
	clock := s.cfg.Now()
	for _, as := range s.asked.open {
		if s.revoked[as.Annotator] && as.LeaseUntil.After(clock) {
			as.LeaseUntil = clock // in memory: whoever loads the session does the same
		}
	}
	return changed
}

// paused reports whether a researcher has paused the session.
func (s *Session) paused() bool { return s.state == idrl.StatePaused }

// held reports whether no work may begin in the background, because the session is paused or
// was closed before its first question. What its log waits for may: answers that are under
// way are taken in.
func (s *Session) held() bool {
	return s.paused() && !s.mustWait() || s.state.Ended() && s.gen == nil
}

func set(ids []idrl.AnnotatorID) map[idrl.AnnotatorID]bool {
	out := map[idrl.AnnotatorID]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// countingsOf returns how replies are to count.
func countingsOf(now idrl.Settings) map[idrl.AnnotatorID]idrl.Counting {
	out := map[idrl.AnnotatorID]idrl.Counting{}
	for who, seq := range now.Turned {
		out[who] = idrl.Counting{Turned: seq}
	}
	for _, who := range now.LeftOut {
		out[who] = idrl.Counting{Out: true}
	}
	return out
}

// undecided returns, in order, the annotators of whom the log says otherwise than
// the settings.
func (s *Session) undecided() (out []idrl.AnnotatorID) {
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

// follows reports whether the log says of an annotator what the settings say.
func (s *Session) follows(who idrl.AnnotatorID) bool { return s.log.how[who].Follows(s.wanted[who]) }

// decision returns the request that makes the log say of an annotator what the settings
// say when its time has come. ahead is its work, if that was done before; nil else.
func (s *Session) decision(ctx context.Context, who idrl.AnnotatorID, ahead *edited, reply func(idrl.Receipt, error)) request {
	return request{reply: reply, write: func() (logEntry, error) { return s.decide(who, ahead) }, after: func() {
		s.adoptIfDue(ctx)
		s.publish(idrl.EventSettings, "")
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
