package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"tiebreak/envs"
	"tiebreak/internal/base/live"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/rehearsal"
	"tiebreak/internal/people/identity"
	"tiebreak/internal/session"
	"tiebreak/internal/train/training"
)

// A studyServer is the server of runs, in this process.
type studyServer struct {
	plan runPlan
	here int // long trainings at a time; 0: as many as there are processors, up to 4

	app  *app
	base string

	temporary string // folder to remove; empty if the data are kept
	stop      context.CancelFunc
	stopped   chan error // of listening
}

// start starts the server, in a data folder dir; empty: in a temporary folder. worker is the command
// line of its workers, as that of openApp. The caller must close the server unless there is an error.
func (s *studyServer) start(ctx context.Context, dir string, list func() envs.List, log *slog.Logger, worker []string) (err error) {
	defer func() {
		if err != nil && s.temporary != "" {
			err = errors.Join(err, os.RemoveAll(s.temporary))
		}
	}()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "tiebreak-simulate"); err != nil {
			return err
		}
		s.temporary = dir
	}
	const addr = "127.0.0.1:0"
	ln, err := listen(ctx, addr, false, stdio{})
	if err != nil {
		return err
	}
	at, err := siteOf(addr, ln.Addr(), "")
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	at.rehearses, at.away.here = true, s.here
	if s.app, err = openApp(ctx, dir, list, at, log, worker...); err != nil {
		return errors.Join(err, ln.Close())
	}
	s.base, s.stopped = at.base, make(chan error, 1)
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx)) // annotators stop before it
	go func() { s.stopped <- s.app.listen(ctx, ln) }()
	return nil
}

// progressLog writes the lines of a log above a progress line.
type progressLog struct{ line *progressLine }

// Write implements io.Writer.
func (s progressLog) Write(b []byte) (int, error) {
	s.line.Say("%s", strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// close stops the server.
func (s *studyServer) close() error {
	s.stop()
	err := errors.Join(<-s.stopped, s.app.close())
	if s.temporary != "" {
		err = errors.Join(err, os.RemoveAll(s.temporary))
	}
	return err
}

// open makes the session of a seed, which is marked as a rehearsal.
func (s *studyServer) open(ctx context.Context, seed uint64) (rehearsal.Config, error) {
	p := s.plan
	spec, err := s.create(ctx, seed)
	if err != nil {
		return rehearsal.Config{}, err
	}
	link, err := s.link(ctx, spec)
	if err != nil {
		return rehearsal.Config{}, err
	}
	cfg := rehearsal.Config{
		Link: link, Seed: seed, Data: s, Answers: p.Answers, Every: p.Every, Expert: p.Expert,
		Pace: p.Pace, Pause: p.Pause, Patience: p.Patience,
		NewEnv: func(spec idrl.SessionSpec) (idrl.Environment, error) { return training.Environment(s.app.envs(), spec) },
	}
	if p.SkipIdle {
		cfg.Clock = rehearsal.SkipIdle{
			Awaits:   p.Await,
			Training: func(ctx context.Context) (bool, error) { return s.training(ctx, spec.ID, p.Await) },
			Changes: func(notify func()) func() {
				return s.app.hub.Subscribe(spec.ID, func(live.Event) { notify() })
			},
		}
	}
	if p.Timed {
		if cfg.Clock == nil {
			cfg.Clock = rehearsal.RealTime{}
		}
		cfg.Clock = &rehearsal.Stopwatch{Clock: cfg.Clock}
		cfg.People, cfg.Each, cfg.Practise, cfg.Ready, cfg.Between = p.People, p.Each, true, s.ready(spec.ID), s.between(spec.ID)
	}
	return cfg, nil
}

// create records the session of a seed.
func (s *studyServer) create(ctx context.Context, seed uint64) (idrl.SessionSpec, error) {
	spec := s.plan.Spec
	spec.Seed, spec.Rehearsal = seed, true
	if spec.Title = fmt.Sprintf("Simulated, seed %d", seed); s.plan.Timed {
		spec.Title = idrl.Titled(fmt.Sprintf("Rehearsal with seed %d: ", seed), s.plan.Spec.Title, "")
	}
	if !spec.IsArena() {
		return newSession(ctx, s.app.db, s.app.envs(), spec)
	}
	spec, err := readySession(s.app.envs(), spec)
	if err != nil {
		return spec, err
	}
	return spec, s.app.db.CreateArena(ctx, spec, "", training.EntrantsName, s.plan.Entrants)
}

// link makes the link of the people: where they are to see a completion code, one of a crowd platform.
func (s *studyServer) link(ctx context.Context, spec idrl.SessionSpec) (string, error) {
	uses := min(max(s.plan.People, 1), idrl.MaxBudget)
	if !s.plan.Timed || spec.CompletionCode == "" {
		if !s.plan.Timed {
			uses = linkUses
		}
		token, err := s.app.auth.NewInvitation(ctx, spec.ID, uses, linkLife)
		return s.base + "/join/" + token, err
	}
	crowd, err := identity.CrowdOf("prolific")
	if err != nil {
		return "", err
	}
	token, err := s.app.auth.NewCrowdInvitation(ctx, spec.ID, uses, linkLife, crowd)
	return s.base + "/join/" + token + "?" + crowd.Query(), err
}

// training reports whether a session is still training after recent answers; with all, whether it trains at all, follow-ups included. It
// starts such a training before it serves another request.
func (s *studyServer) training(ctx context.Context, id idrl.SessionID, all bool) (bool, error) {
	sess, err := s.app.manager.Session(ctx, id)
	if err != nil {
		return false, err
	}
	st, err := sess.Status(ctx)
	return st.Training.Running && (all || !st.Training.FollowUp), err
}

// Record implements rehearsal.Data.
func (s *studyServer) Record(ctx context.Context, id idrl.SessionID) (record.Record, error) {
	return s.app.db.Load(ctx, id)
}

// Config implements rehearsal.Data.
func (s *studyServer) Config(rec record.Record) (session.Config, error) {
	cfg, err := sessionConfig(s.app.envs(), rec)
	cfg.Journal = s.app.db
	return cfg, err
}

// PolicyClips implements rehearsal.Data.
func (s *studyServer) PolicyClips(ctx context.Context, id idrl.SessionID, clip idrl.ClipID) ([][]byte, error) {
	return s.app.db.PolicyClips(ctx, id, clip)
}

var _ rehearsal.Data = (*studyServer)(nil)
