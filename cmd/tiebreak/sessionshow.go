package main

import (
	"context"
	"flag"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/studyfile"
	"tiebreak/internal/train/training"
	"tiebreak/store"
)

// showFlags are the flags of session show.
type showFlags struct {
	own           own
	data, session string
	yaml          bool
}

func (f *showFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	ownFlags(fs, &f.own)
	fs.BoolVar(&f.yaml, "yaml", false, "write a study file; 'tiebreak session create -f' makes a session with the same settings from it")
}

func sessionShowCommand() command {
	return subcommand("session show", "write the settings of a session as JSON or YAML", (*showFlags).declare,
		"Writes the settings of a session as a JSON object: those of idrl.SessionSpec, the names of its features and\n"+
			"the scale of each weight under the prior (PriorScale; null: 1); and Engines, the physics engines that its clips\n"+
			"were computed with, in the order of their first use. The server may be running.",
		func(ctx context.Context, std stdio, f *showFlags) error {
			list, err := environments(f.own.at(f.data))
			if err != nil {
				return err
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				if f.yaml && spec.IsArena() {
					return idrl.Errorf(idrl.Invalid, "session %s is an arena: it is made from other sessions, not from a study file", spec.ID)
				}
				if f.yaml {
					b, err := studyfile.Write(spec)
					if err == nil {
						_, err = std.Out.Write(b)
					}
					return err
				}
				if named, err := training.NameFeatures(list, spec); err == nil {
					spec = named
				}
				engines, err := db.Engines(ctx, spec.ID)
				if err != nil {
					return err
				}
				return printJSON(std.Out, struct {
					idrl.SessionSpec
					Engines []string
				}{spec, engines})
			})
		})
}
