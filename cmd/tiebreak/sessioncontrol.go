package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
	"tiebreak/web"
)

// controlFlags are the flags of the commands that act upon a session as a whole.
type controlFlags struct {
	own                  own
	data, session, title string

	by, budget int  // of extend
	all        bool // of list
	seed       seedFlag
	anyway     bool // of clone
}

func (f *controlFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
}

func (f *controlFlags) declareList(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.BoolVar(&f.all, "all", false, "also the archived ones, and rehearsals")
}

func (f *controlFlags) declareRename(fs *flag.FlagSet) {
	f.declare(fs)
	fs.StringVar(&f.title, "title", "", "new `name` of the session")
}

func (f *controlFlags) declareExtend(fs *flag.FlagSet) {
	f.declare(fs)
	fs.IntVar(&f.by, "by", 0, "`answers` wanted in addition to those wanted before")
	fs.IntVar(&f.budget, "budget", 0, "`answers` wanted in all, more than before")
}

func (f *controlFlags) declareClone(fs *flag.FlagSet) {
	f.declare(fs)
	ownFlags(fs, &f.own)
	fs.StringVar(&f.title, "title", "", "`name` of the new session; default: Copy of, and the name of the old one")
	anywayFlag(fs, &f.anyway)
	fs.Var(&f.seed, "seed", "`seed` of the new session, or new to draw one; default: the seed of the old session, so that both ask the same first question")
}

// A seedFlag is a seed, or the word new.
type seedFlag struct {
	set   bool
	value uint64
}

// String implements flag.Value.
func (s *seedFlag) String() string {
	if !s.set {
		return ""
	}
	return strconv.FormatUint(s.value, 10)
}

// Set implements flag.Value.
func (s *seedFlag) Set(text string) (err error) {
	s.set = true
	if text == "new" {
		s.value = web.DrawSeed()
		return nil
	}
	if s.value, err = strconv.ParseUint(text, 10, 64); err != nil {
		return errors.New("write a whole number, or new")
	}
	return nil
}

func sessionListCommand() command {
	return subcommand("session list", "list the sessions of a data folder", (*controlFlags).declareList,
		"Lists the sessions, the newest first: whether they run, are paused, closed or archived, and how many answers they have.\n"+
			"The server may be running.",
		func(ctx context.Context, std stdio, f *controlFlags) error {
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				all, err := db.Sessions(ctx)
				if err != nil {
					return err
				}
				list, archived := unarchived(all, f.all)
				rehearsed := len(list)
				list = slices.DeleteFunc(list, func(s record.Summary) bool { return s.Spec.Rehearsal && !f.all })
				rehearsed -= len(list)
				if len(list) == 0 && rehearsed == 0 {
					fmt.Fprintf(std.Out, "%s holds no session; 'tiebreak session create' makes one.\n", f.data)
				} else if err := table(std.Out, "SESSION\tSTATE\tANSWERS\tENVIRONMENT\tMADE\tTITLE", len(list), func(w io.Writer, i int) {
					s := list[i]
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", s.Spec.ID, s.State, answersOf(s), s.Spec.Env, when(s.Spec.CreatedAt), s.Spec.Title)
				}); err != nil {
					return err
				}
				if rehearsed > 0 {
					fmt.Fprintf(std.Out, "%d rehearsals are not listed; add --all to list them.\n", rehearsed)
				}
				if archived > 0 {
					fmt.Fprintf(std.Out, "%d archived sessions are not listed; add --all to list them.\n", archived)
				}
				return nil
			})
		})
}

// unarchived returns the sessions to list, and the number of archived ones.
func unarchived(all []record.Summary, whole bool) (list []record.Summary, archived int) {
	for _, s := range all {
		if s.State == record.StateArchived && !whole {
			archived++
			continue
		}
		list = append(list, s)
	}
	return list, archived
}

// answersOf writes the number of answers of a session, and of answers wanted.
func answersOf(s record.Summary) string {
	if s.Spec.Budget == 0 {
		return strconv.Itoa(s.Answers)
	}
	return fmt.Sprintf("%d of %d", s.Answers, s.Spec.Budget)
}

// stateCommand returns a command that changes the state of a session.
func stateCommand(action, summary, about string) command {
	return subcommand("session "+action, summary, (*controlFlags).declare, about+" A running server applies the change within seconds.",
		func(ctx context.Context, std stdio, f *controlFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				before, after, err := db.Control(ctx, spec.ID, action, byCommand, time.Now())
				if err != nil {
					return err
				}
				if before == after {
					fmt.Fprintf(std.Out, "Session %s was already %s.\n", spec.ID, after)
					return nil
				}
				fmt.Fprintf(std.Out, "Session %s is %s; before it was %s.\n", spec.ID, after, before)
				return nil
			})
		})
}

// stateCommands returns the commands that change the state of a session.
func stateCommands() []command {
	return []command{
		stateCommand(record.ActPause, "ask no more questions until the session is resumed",
			"Annotators see that the researcher has paused the session. Answers to questions that are already open are recorded. No training\nstarts."),
		stateCommand(record.ActResume, "ask questions again", "Continues a session that is paused, closed or archived. Open pages of annotators continue by themselves."),
		stateCommand(record.ActClose, "end a session", "Annotators are thanked and get the completion code, as in a complete session. New people cannot join. The\nanswers stay. 'tiebreak session resume' opens it again."),
		stateCommand(record.ActArchive, "end a session and hide it from the list", "Closes a session and hides it from the list of sessions; 'tiebreak session list --all' shows it. The answers stay."),
	}
}

func sessionRenameCommand() command {
	c := subcommand("session rename", "change the title of a session", (*controlFlags).declareRename,
		"Changes the title on the session's pages, in the list of sessions, and on the page where annotators join. A running server applies\nthe change within seconds.",
		func(ctx context.Context, std stdio, f *controlFlags) error {
			if f.title == "" {
				return fmt.Errorf("%w: --title is missing", errUsage)
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				if err := db.Rename(ctx, spec.ID, f.title, byCommand, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(std.Out, "Session %s is called %q; before it was called %q.\n", spec.ID, f.title, spec.Title)
				return nil
			})
		})
	c.Usage, c.Example = "[ID] --title TITLE [flags]", c.Example+" --title 'Pilot'"
	return c
}

func sessionExtendCommand() command {
	c := subcommand("session extend", "ask for more answers", (*controlFlags).declareExtend,
		"Raises the number of answers wanted; a complete session continues. 'tiebreak session set --budget' also lowers it. A running\nserver applies the change within seconds.",
		func(ctx context.Context, std stdio, f *controlFlags) error {
			if (f.by > 0) == (f.budget > 0) {
				return fmt.Errorf("%w: give --by N or --budget N, above 0", errUsage)
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				budget := max(f.budget, 0)
				if f.by > 0 {
					budget = spec.Budget + f.by
				}
				if spec.Budget == 0 || budget <= spec.Budget {
					return idrl.Errorf(idrl.Conflict, "session %s already wants %s; give a budget above that instead of %d", spec.ID, wanted(spec.Budget), budget)
				}
				if err := db.SetBudget(ctx, spec.ID, budget, byCommand, time.Now()); err != nil {
					return err
				}
				fmt.Fprintf(std.Out, "Session %s now wants %s; before it was %s.\n", spec.ID, wanted(budget), wanted(spec.Budget))
				return nil
			})
		})
	c.Usage, c.Example = "[ID] --by N [flags]", c.Example+" --by 20"
	return c
}

func sessionCloneCommand() command {
	c := subcommand("session clone", "make a session with the settings of another one", (*controlFlags).declareClone,
		"Makes a session with the settings, instructions and pictures of another one as they are now, and without its answers, people,\nlinks, practice and gold questions. The server may be running.",
		func(ctx context.Context, std stdio, f *controlFlags) error {
			list, err := environments(f.own.at(f.data))
			if err != nil {
				return err
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				seed := spec.Seed
				if f.seed.set {
					seed = f.seed.value
				}
				if err := placedBeside(ctx, std, db, list, spec, f.anyway); err != nil {
					return err
				}
				made, err := cloneSession(ctx, db, list, spec, f.title, seed, byCommand)
				if err != nil {
					return err
				}
				fmt.Fprintf(std.Out, "Session %s is called %q and has seed %d. '%s' makes a link for annotators.\n",
					made.ID, made.Title, made.Seed, commandLine("invite", "new", "--data", f.data, "--session", string(made.ID)))
				return nil
			})
		})
	c.Example += " --seed new"
	return c
}
