package main

import (
	"context"
	"time"

	"tiebreak/internal/base/record"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
)

// demoSpec is the settings of the demo session.
func demoSpec() idrl.SessionSpec {
	return idrl.SessionSpec{
		GoldEvery: record.DefaultGoldEvery, MinDwell: record.DefaultMinDwell, MaxRate: record.DefaultMaxRate,
		Title: "Teach a car to drive", Env: "driver", Kind: idrl.CompareClips, Budget: 30, Seed: 1, ShowLearnt: true,
		Instructions: "You see two short drives of the blue car. Choose the one that you would rather sit in.\n" +
			"Judge only what you see happen, not what might come next.\n" +
			"If both are equally good or equally bad, say so: that is an answer too.\n" +
			"If you cannot tell what happens, choose “Can't tell”.",
	}
}

func demoCommand() command {
	return shared.With(command{
		Name: "demo", Endless: true, Summary: "open a demo session: label clips of a car and watch it learn", Usage: "[flags]",
		About: "Runs the server with a demo session: teach a car to drive by about thirty comparisons of clips.\n" +
			"It prints one link for the researcher and one for an annotator. If the port is in use, it takes another.\n" +
			"A second run continues with the same data.",
		Example: "tiebreak demo",
	}, (*serveFlags).declare, func(ctx context.Context, io stdio, f *serveFlags) error { return serve(ctx, io, f, true) })
}

const (
	demoKey  = "demo_session"
	linkLife = 30 * 24 * time.Hour
	linkUses = 1000 // people who can join by one printed link
)

// openDemo makes the demo session, if the data folder has none, starts it, and
// returns the token of a new annotator link.
func (a *app) openDemo(ctx context.Context) (token string, err error) {
	id, err := a.db.Meta(ctx, demoKey)
	if err != nil {
		return "", err
	}
	if id == "" {
		spec, err := newSession(ctx, a.db, a.envs(), demoSpec())
		if err != nil {
			return "", err
		}
		id = string(spec.ID)
		if err := a.db.SetMeta(ctx, demoKey, id); err != nil {
			return "", err
		}
	}
	if _, err := a.manager.Session(ctx, idrl.SessionID(id)); err != nil {
		a.log.Error("the demo session cannot run; its page says why", "err", err) // the server's other pages still work
	}
	return a.auth.NewInvitation(ctx, idrl.SessionID(id), linkUses, linkLife)
}
