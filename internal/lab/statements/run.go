package statements

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/driven"
	"tiebreak/internal/learn/acquisition"
	"tiebreak/internal/session/view"
	"tiebreak/internal/train/trainer"
	"tiebreak/internal/train/training"

	"gonum.org/v1/gonum/floats"
)

// A Moment compares what a session states after an answer with the truth. Losses are shares of
// the span.
type Moment struct {
	Answers int
	Regret  float64 // the true one
	Within  float64 // stated probability that it is at most Tolerance
	Bound   float64 // stated: it is below with 95 %
	Mean    float64 // stated
	Against string  // codes of the objections by which the statement is withheld; empty if it is said
	MayStop bool    // the session says "you can stop"
}

// Tolerance is the loss that counts as small: that of sessions by default.
const Tolerance = 0.05

// A Run is one session.
type Run struct {
	World, People string
	Seed          uint64
	Moments       []Moment // one after each answer
}

// Do runs a session in w of a seed, which people of kind k answer.
func Do(ctx context.Context, w World, k Kind, seed uint64, answers int) (Run, error) {
	out := Run{World: w.Name, People: k.Name, Seed: seed}
	err := out.do(ctx, w, k, answers)
	if err != nil {
		err = fmt.Errorf("%s, %s, seed %d: %w", w.Name, k.Name, seed, err)
	}
	return out, err
}

func (out *Run) do(ctx context.Context, w World, k Kind, answers int) error {
	s, err := k.stage(w, out.Seed)
	if err != nil {
		return err
	}
	most, err := w.best(ctx, s.spec, s.theta)
	if err != nil {
		return err
	}
	session, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	for n := range answers {
		if err := s.answer(ctx, session, n); err != nil {
			return err
		}
		st, err := session.Status(ctx)
		if err != nil {
			return err
		}
		out.Moments = append(out.Moments, moment(n+1, st, s.regret(session.Known(), st.Best, most)))
	}
	return nil
}

// start starts the session.
func (s *stage) start(ctx context.Context) (*driven.Session, error) {
	model, err := training.Model(s.world.list, s.spec)
	if err != nil {
		return nil, err
	}
	of, err := training.New(s.world.list, s.spec)
	if err != nil {
		return nil, err
	}
	method, err := acquisition.Find(s.spec.Acquisition)
	if err != nil {
		return nil, err
	}
	env, err := training.Environment(s.world.list, s.spec)
	if err != nil {
		return nil, err
	}
	past, err := training.Recorded(s.world.list, s.spec)
	if err != nil {
		return nil, err
	}
	return driven.Start(ctx, driven.Config{
		Spec: s.spec, Model: model, Method: method, Trainer: prompt{of},
		Averaged: training.Averaged(s.spec.Kind), Rival: training.Rival(model, s.spec.Kind), Exact: training.Exact(env, s.spec), Steps: training.Lengths(past),
	})
}

// A prompt is a trainer whose results are there at once by the clock, which stands still.
type prompt struct{ of *trainer.Thompson }

// Train implements driven.Trainer.
func (p prompt) Train(ctx context.Context, job idrl.TrainJob) (idrl.Generation, time.Duration, error) {
	g, err := p.of.Train(ctx, job)
	return g, 0, err
}

// answer answers question n, counted from 0. It returns an error if the session has nothing to ask.
func (s *stage) answer(ctx context.Context, session *driven.Session, n int) error {
	k := n % len(s.cast)
	open, err := session.Claim(ctx, idrl.AnnotatorID(fmt.Sprint("annotator ", k+1)))
	if err != nil {
		return err
	}
	if len(open) == 0 {
		return fmt.Errorf("the session has nothing to ask after %d answers: ask for fewer, or take another world", n)
	}
	q, err := session.Question(open[0].Query)
	if err != nil {
		return err
	}
	return session.Answer(ctx, open[0], s.cast[k](*q, s.stream("answer "+string(q.ID), uint64(n))))
}

// rounding is the share of the span up to which returns of equally good policies may differ.
const rounding = 1e-9

// regret returns the true loss of policy best: a share of the range of true returns from the worst
// known policy to the best one, which is most or known.
func (s *stage) regret(known []idrl.Candidate, best idrl.PolicyID, most float64) float64 {
	got, least := 0.0, math.Inf(1)
	for _, c := range known {
		g := floats.Dot(s.theta, c.Mu)
		most, least = max(most, g), min(least, g)
		if c.ID == best {
			got = g
		}
	}
	if loss := most - got; loss > rounding*(most-least) {
		return loss / (most - least)
	}
	return 0
}

func moment(n int, st view.Status, regret float64) Moment {
	r := st.Regret[len(st.Regret)-1]
	var against []string
	for _, o := range st.Stopping.Objections {
		against = append(against, o.Code)
	}
	return Moment{n, regret, r.Within, r.Bound, r.Mean, strings.Join(against, "+"), st.Stopping.Propose}
}
