package training

import (
	"context"
	"log/slog"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
)

// mostExamples is the number of clips that Examples returns: those of the longest question.
const mostExamples = 6

// Examples returns at most six drawn clips that show what the questions of a session are about, whose
// settings are complete: of the first behaviours of the library of a robot, elsewhere of policies for
// drawn rewards. The first two belong to a question. It returns an error of kind NotFound for an
// environment that a program of its own runs, which is not started for this, and where policies would
// have to be searched for.
func Examples(ctx context.Context, list envs.List, spec idrl.SessionSpec, log *slog.Logger) ([]idrl.Clip, error) {
	entry, err := list.Find(spec.Env)
	if err != nil {
		return nil, err
	}
	if entry.Outside() {
		return nil, idrl.Errorf(idrl.NotFound, "clips of %s are drawn by its own program, in sessions only", spec.Env)
	}
	if spec, err = Complete(list, spec); err != nil {
		return nil, err
	}
	if spec.ByGaits() {
		return fromStock(ctx, list, spec, log)
	}
	quick, err := Quick(list, spec)
	if err != nil {
		return nil, err
	}
	if !quick {
		return nil, idrl.Errorf(idrl.NotFound, "policies of %s for questions of type %s are searched for in sessions only", spec.Env, spec.Kind)
	}
	t, err := New(list, spec)
	if err != nil {
		return nil, err
	}
	t.Pool, t.Samples, t.Restarts, t.Rollouts, t.MaxQueries, t.Steer = -1, 2, 1, 2, mostExamples, nil
	m, err := Model(list, spec)
	if err != nil {
		return nil, err
	}
	g, err := t.Train(ctx, idrl.TrainJob{Posterior: m.Prior(), Seed: spec.Seed})
	if err != nil {
		return nil, err
	}
	return ofQuestions(g), nil
}

// fromStock returns clips of the first behaviours of a stock, one of each.
func fromStock(ctx context.Context, list envs.List, spec idrl.SessionSpec, log *slog.Logger) (out []idrl.Clip, err error) {
	stock, err := NewStock(list, spec, log)
	if err != nil {
		return nil, err
	}
	for _, b := range stock.Behaviours {
		clips, err := stock.Clips(ctx, b)
		if err != nil {
			return nil, err
		}
		if len(clips) > 0 {
			out = append(out, clips[0])
		}
		if len(out) == mostExamples {
			break
		}
	}
	return out, nil
}

// ofQuestions returns the clips of the questions of a generation, those of the first question first.
func ofQuestions(g idrl.Generation) (out []idrl.Clip) {
	drawn := map[idrl.ClipID]idrl.Clip{}
	for _, c := range g.Clips {
		drawn[c.ID] = c
	}
	for _, q := range g.Queries {
		for _, id := range q.Clips {
			if c, there := drawn[id]; there && len(c.Media) > 0 && len(out) < mostExamples {
				out = append(out, c)
				delete(drawn, id)
			}
		}
	}
	return out
}
