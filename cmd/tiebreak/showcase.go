package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/train/training"
)

// exampleTime is how long the clips of an environment may take to be made.
const exampleTime = 20 * time.Second

// A showcase has example clips of environments, for the form of new sessions. They are made when they
// are asked for first, for one environment at a time. All methods are safe for concurrent use.
type showcase struct {
	list func() envs.List
	log  *slog.Logger

	mu   sync.Mutex
	made map[exampleKey]exampleClips // guarded by mu
}

type exampleKey struct {
	ref  string
	kind idrl.QueryKind
}

type exampleClips struct {
	clips [][]byte
	err   error
}

func newShowcase(list func() envs.List, log *slog.Logger) *showcase {
	return &showcase{list: list, log: log, made: map[exampleKey]exampleClips{}}
}

// mostShown is how many environments and types of questions are kept.
const mostShown = 64

// clips returns the drawn forms of at most six clips of an environment, the first two of one
// question. It returns an error of kind NotFound if there are none.
func (s *showcase) clips(ctx context.Context, env string, kind idrl.QueryKind) ([][]byte, error) {
	list := s.list()
	entry, err := list.Find(env)
	if err != nil {
		return nil, idrl.Errorf(idrl.NotFound, "there is no environment %q to show", env)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := exampleKey{entry.Ref(), kind.Made()}
	if e, ok := s.made[key]; ok {
		return e.clips, e.err
	}
	if err := ctx.Err(); err != nil { // the browser has left while others were made
		return nil, err
	}
	if len(s.made) >= mostShown {
		clear(s.made)
	}
	e := s.make(context.WithoutCancel(ctx), list, env, key.kind)
	s.made[key] = e
	return e.clips, e.err
}

// make makes the clips of an environment.
func (s *showcase) make(ctx context.Context, list envs.List, env string, kind idrl.QueryKind) (e exampleClips) {
	ctx, cancel := context.WithTimeout(ctx, exampleTime)
	defer cancel()
	spec := settings.Defaults()
	spec.Env, spec.Kind = env, kind
	clips, err := training.Examples(ctx, list, settings.Complete(spec), s.log)
	for _, c := range clips {
		e.clips = append(e.clips, c.Media)
	}
	if len(e.clips) == 0 && err == nil {
		err = idrl.Errorf(idrl.NotFound, "%s has no clips to show", env)
	}
	if err != nil && idrl.KindOf(err) != idrl.NotFound {
		s.log.Warn("no example clips of an environment are shown", "env", env, "err", err)
		err = idrl.Errorf(idrl.NotFound, "clips of %s could not be made", env)
	}
	e.err = err
	return e
}
