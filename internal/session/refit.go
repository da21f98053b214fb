package session

import (
	"context"
	"fmt"
	"maps"

	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/posterior"
)

// refit is the state of the learning of features, which goes on beside the session like
// a training. Features that were learnt from the answers up to one row come into use
// after another, which is recorded: the posterior is a function of the log and of that.
// With AdoptAfter above 0 they come into use before anything else happens, so that
// questions do not depend on how fast the machine is.
type refit struct {
	*statements
	outcome chan refitted // nil when nothing is being learnt
	answers int           // that the last attempt saw
	seen    int64         // log row at which nothing was due; -1 before
}

// A refitted is the outcome of learning.
type refitted struct {
	fit   record.LearntFit // without AdoptedAt
	shelf *shelf           // of the view of features
	features
	gen     *idrl.Generation   // that vectors are of
	vectors []idrl.QueryVector // its queries
	at      int64              // length of the log that history is of
	history *posterior.History
	err     error
}

// wait returns when no goroutine is left.
func (r *refit) wait() {
	if r.outcome != nil {
		<-r.outcome
	}
}

// refitDue reports whether features are to be learnt now.
func (r *refit) refitDue() bool {
	if r.cfg.Learner == nil || r.outcome != nil || r.impaired != nil || r.gen == nil || r.seen == r.log.seq() {
		return false
	}
	for m := r.answers + 1; m <= r.history.Len(); m++ {
		if r.cfg.Learner.Due(m) {
			return true
		}
	}
	r.seen = r.log.seq()
	return false
}

// startRefit starts learning features if that is due.
func (r *refit) startRefit(ctx context.Context) {
	if !r.refitDue() {
		return
	}
	version := int64(len(r.fits)) + 1
	res := refitted{
		fit: record.LearntFit{
			Learner: r.cfg.Learner.Name(), Version: version, BasedOn: r.log.seq(), Seed: rng.New(r.spec.Seed, "fit", uint64(version)).Uint64(),
		},
		shelf: &shelf{journal: r.cfg.Journal, session: r.spec.ID, asked: maps.Clone(r.shelf.asked), gen: r.gen, remarks: r.spec.Remarks, arena: r.spec.Arena},
		gen:   r.gen, at: r.log.seq(),
	}
	items, known := r.history.After(0), r.learner.Policies().All()
	r.answers = r.history.Len()
	r.beside(res, func(res *refitted) error { return r.learn(ctx, res, items, known) })
}

// beside runs work on res in a goroutine of its own. The session does not touch res until it is done.
func (r *refit) beside(res refitted, work func(*refitted) error) {
	c := make(chan refitted, 1)
	r.outcome = c
	go func() {
		res.err = work(&res)
		c <- res
	}()
}

// present computes what the session needs of known and of the generation of res.
func (res *refitted) present(known []idrl.Candidate) (err error) {
	if err = res.policies(known); err == nil {
		res.vectors, err = res.view.Queries(res.gen.Queries)
	}
	return err
}

// learn learns features from items and computes what the session needs of them. It runs
// beside the session and touches nothing of it that changes.
func (r *refit) learn(ctx context.Context, res *refitted, items []posterior.Item, known []idrl.Candidate) (err error) {
	data, err := dataset(res.shelf, items)
	if err != nil {
		return err
	}
	if res.fit.Content, err = r.cfg.Learner.Learn(ctx, data, res.fit.Version, res.fit.Seed); err != nil {
		return err
	}
	if res.features, err = r.open(res.fit, res.shelf); err != nil {
		return err
	}
	if err = res.present(known); err != nil {
		return err
	}
	for i := range items {
		if items[i].Query, err = res.view.Query(items[i].Query.Query); err != nil {
			return err
		}
	}
	res.history, err = posterior.New(r.posteriorConfig(res.model)).Replace(ctx, 0, items)
	return err
}

// dataset returns what features are learnt from.
func dataset(from *shelf, items []posterior.Item) (d idrl.Dataset, err error) {
	for _, i := range items {
		shown := make([]idrl.Steps, len(i.Query.Clips))
		for k, id := range i.Query.Clips {
			if shown[k], err = from.shown(id); err != nil {
				return d, err
			}
		}
		d.Queries, d.Answers, d.Shown = append(d.Queries, i.Query.Query), append(d.Answers, i.Answer()), append(d.Shown, shown)
	}
	return d, nil
}

// relearnt takes in features that were learnt. Where that fails the session goes on with
// those in use, and tries again when features are due the next time.
func (s *Session) relearnt(ctx context.Context, res refitted) {
	if res.err == nil && res.gen != s.gen { // another came into use meanwhile
		res.gen, res.shelf.gen, res.shelf.asked = s.gen, s.gen, maps.Clone(s.shelf.asked)
		known := s.learner.Policies().All()
		s.beside(res, func(res *refitted) error { return res.present(known) })
		return
	}
	if err := s.adoptFit(ctx, &res); err != nil {
		s.cfg.Log.ErrorContext(ctx, "learning of features failed; those in use stay", "session", s.spec.ID,
			"version", res.fit.Version, "based_on", res.fit.BasedOn, "err", err)
		s.adoptIfDue(ctx) // it may have waited for the features
		return
	}
	s.adoptIfDue(ctx)
	s.publish(live.EventAdopted, "")
}

func (r *refit) adoptFit(ctx context.Context, res *refitted) error {
	if res.err != nil {
		return res.err
	}
	res.shelf.asked, res.shelf.gen = r.shelf.asked, r.gen
	history, err := r.caughtUp(res)
	if err != nil {
		return err
	}
	res.fit.AdoptedAt = r.log.seq()
	if err := r.cfg.Journal.AdoptFit(context.WithoutCancel(ctx), r.spec.ID, res.fit); err != nil {
		return fmt.Errorf("record features %d: %w", res.fit.Version, err)
	}
	r.fits, r.shelf = append(r.fits, res.fit), res.shelf
	r.represent(res.features, history, res.vectors)
	return nil
}

// caughtUp returns the history of res with what was added to the log since.
func (r *refit) caughtUp(res *refitted) (*posterior.History, error) {
	if n := len(r.log.edits); n > 0 && int64(r.log.edits[n-1]) >= res.at { // other answers count now
		items, err := r.items(res.view, r.log.rows)
		if err != nil {
			return nil, err
		}
		return res.history.Replace(context.Background(), 0, items)
	}
	h := res.history
	for _, a := range r.log.rows[res.at:] {
		q, err := r.question(res.view, a)
		if err != nil {
			return nil, err
		}
		if h, err = r.extend(h, q, a); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// restoreFeatures brings the features that were learnt last into use. If they cannot
// be used then the session goes on with those of its environment and logs that. No answer is lost, and the next start
// tries again.
func (r *refit) restoreFeatures() {
	if len(r.fits) == 0 {
		return
	}
	for _, a := range record.Effective(r.log.rows[:r.fits[len(r.fits)-1].BasedOn]) {
		if r.teaches(a) {
			r.answers++
		}
	}
	f, vectors, err := r.recorded(int64(len(r.fits)))
	if err != nil {
		r.impaired = err
		r.cfg.Log.Error("learnt features cannot be used; the session continues with the features of its environment, and no answer is lost",
			"session", r.spec.ID, "err", err)
		return
	}
	r.represent(f, posterior.New(r.posteriorConfig(f.model)), vectors) // restoreBelief sets the answers
}
