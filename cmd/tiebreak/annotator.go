package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

func annotatorCommand() command {
	return command{
		Name: "annotator", Summary: "list and remove annotators, change how their answers count, and erase a person's data", Usage: "list | revoke | answers | withdraw [flags]",
		About:   "Manages the annotators of a session. A running server applies changes within seconds.",
		Example: "tiebreak annotator list ID --data tiebreak-data",
		Subs:    []command{annotatorListCommand(), annotatorRevokeCommand(), annotatorAnswersCommand(), annotatorWithdrawCommand()},
	}
}

// annotatorFlags are the flags of the commands about annotators.
type annotatorFlags struct {
	data, session, who, answers string
	sure                        bool
}

// Values of the flag answers.
const (
	countAnswers    = "count"
	turnAnswers     = "turn"
	leaveAnswersOut = "leave-out"
)

func (f *annotatorFlags) declareList(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
}

func (f *annotatorFlags) declareRevoke(fs *flag.FlagSet) {
	f.declareList(fs)
	fs.StringVar(&f.who, "annotator", "", "`id` of the annotator, as 'tiebreak annotator list' shows it: a3")
	fs.StringVar(&f.answers, "answers", countAnswers, "whether their answers so far "+countAnswers+", or are left out of the posterior and of exports: "+leaveAnswersOut)
}

func (f *annotatorFlags) declareAnswers(fs *flag.FlagSet) {
	f.declareList(fs)
	fs.StringVar(&f.who, "annotator", "", "`id` of the annotator, as 'tiebreak annotator list' shows it: a3")
	fs.StringVar(&f.answers, "answers", countAnswers, "how their answers count: "+countAnswers+", as given; "+turnAnswers+", those until now with the sides exchanged; "+leaveAnswersOut+", not at all")
}

// decision returns how answers are to count, from one of the words of a flag, or an error if a flag
// is wrong.
func (f *annotatorFlags) decision(words ...string) (idrl.Choice, error) {
	switch {
	case f.who == "":
		return "", fmt.Errorf("%w: --annotator is missing; 'tiebreak annotator list' shows the annotators", errUsage)
	case !slices.Contains(words, f.answers):
		return "", fmt.Errorf("%w: --answers is one of %s; got %q", errUsage, strings.Join(words, ", "), f.answers)
	}
	return map[string]idrl.Choice{countAnswers: idrl.TakenIn, turnAnswers: idrl.Turned, leaveAnswersOut: idrl.LeftOut}[f.answers], nil
}

func (f *annotatorFlags) declareWithdraw(fs *flag.FlagSet) {
	f.declareList(fs)
	fs.StringVar(&f.who, "annotator", "", "`id` of the annotator, as 'tiebreak annotator list' shows it: a3")
	fs.BoolVar(&f.sure, "yes", false, "erase the data; without this flag the command only says what it would erase")
}

func annotatorListCommand() command {
	return subcommand("annotator list", "list the annotators of a session", (*annotatorFlags).declareList,
		"Lists the annotators who joined a session: by which link, when they were last seen (to ten minutes), how many answers\n"+
			"they gave, whether they may answer, and whether their answers count.",
		func(ctx context.Context, std stdio, f *annotatorFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				people, err := db.Annotators(ctx, spec.ID)
				if err != nil {
					return err
				}
				if len(people) == 0 {
					fmt.Fprintf(std.Out, "No annotator has joined session %s yet. '%s' makes a link.\n", spec.ID, commandLine("invite", "new", "--data", f.data))
					return nil
				}
				replies, err := db.Replies(ctx, spec.ID)
				if err != nil {
					return err
				}
				return table(std.Out, "ANNOTATOR\tNAME\tJOINED\tLINK\tLAST SEEN\tANSWERS\tSTATE", len(people), func(w io.Writer, i int) {
					a, link := people[i], "-"
					if a.Invitation != 0 {
						link = strconv.FormatInt(a.Invitation, 10)
					}
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", a.ID, a.Name, when(a.JoinedAt), link, when(a.SeenAt), replies[a.ID], a.State())
				})
			})
		})
}

func annotatorRevokeCommand() command {
	c := subcommand("annotator revoke", "end a person's part in a session", (*annotatorFlags).declareRevoke,
		"Ends a person's part at once. Their page says so, and other annotators get their questions. Their answers so far\n"+
			"still count (turned answers stay turned), unless you give --answers leave-out. The link by which they joined stays valid; see\n"+
			"'tiebreak invite'.",
		changeAnnotator(func(db *store.DB, ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, how idrl.Choice, by string, now time.Time) error {
			return db.RevokeAnnotator(ctx, session, who, how == idrl.LeftOut, by, now)
		}, countAnswers, leaveAnswersOut))
	c.Usage, c.Example = "[ID] --annotator WHO [flags]", c.Example+" --annotator a3 --answers leave-out"
	return c
}

func annotatorAnswersCommand() command {
	c := subcommand("annotator answers", "change how a person's answers count", (*annotatorFlags).declareAnswers,
		"Leaves a person's answers out of the posterior and of exports, turns them if the person answers the other way\n"+
			"round, or counts them as they were given. The log keeps them as they were given. Turning applies to the answers until\n"+
			"now: of a comparison the other clip counts as the better one, of a group the best as the worst, a rating is\n"+
			"mirrored at the middle of the scale; 'equal', 'can't tell', skips and remarks stay. Later answers count as they\n"+
			"are given; repeat the command to turn them as well.",
		changeAnnotator((*store.DB).DecideAnswers, countAnswers, turnAnswers, leaveAnswersOut))
	c.Usage, c.Example = "[ID] --annotator WHO [flags]", c.Example+" --annotator a3 --answers turn"
	return c
}

func annotatorWithdrawCommand() command {
	c := subcommand("annotator withdraw", "erase a person's data for ever", (*annotatorFlags).declareWithdraw,
		"Erases a person's answers and name from the session: from the posterior, which is computed again from the answers of\n"+
			"the others, from later exports, and from every file of the data folder. The backups in the server's own folders are\n"+
			"written anew without them. This cannot be undone. Their rows of the log keep only positions and times. Policies that\n"+
			"were trained meanwhile stay. Earlier exports and copies in other places, such as those of 'tiebreak backup', you must\n"+
			"delete yourself.",
		func(ctx context.Context, std stdio, f *annotatorFlags) error {
			if f.who == "" {
				return fmt.Errorf("%w: --annotator is missing; 'tiebreak annotator list' shows the annotators", errUsage)
			}
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				who := idrl.AnnotatorID(f.who)
				if !f.sure {
					return announceWithdrawal(ctx, std, db, spec.ID, who)
				}
				n, err := db.Withdraw(ctx, spec.ID, who, byCommand, time.Now())
				if err != nil {
					return fmt.Errorf("%w; 'tiebreak annotator list' shows the annotators", err)
				}
				fmt.Fprintf(std.Out, "Erased the data of %s: %d rows of the log are empty now.\n", who, n)
				if err := erase(ctx, db); err != nil {
					fmt.Fprintf(std.Out, "Files of the data folder still hold traces: %v.\nA running server removes them by itself; otherwise the next command that changes the data folder removes them. 'tiebreak annotator list' says when they are gone.\n", err)
				}
				return printAnnotator(ctx, std, db, spec.ID, who)
			})
		})
	c.Usage, c.Example = "[ID] --annotator WHO --yes [flags]", c.Example+" --annotator a3 --yes"
	return c
}

// Waits of erase: in all, and between two attempts.
const (
	eraseWait  = 10 * time.Second
	eraseAgain = 100 * time.Millisecond
)

// erase removes withdrawn data from the files of the data folder, or waits until the server has
// done so. If that takes too long it returns the reason.
func erase(ctx context.Context, db *store.DB) error {
	last, again := time.After(eraseWait), time.NewTicker(eraseAgain)
	defer again.Stop()
	for {
		err := db.Erase(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-last:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// announceWithdrawal prints what a withdrawal would erase.
func announceWithdrawal(ctx context.Context, std stdio, db *store.DB, session idrl.SessionID, who idrl.AnnotatorID) error {
	people, err := db.Annotators(ctx, session)
	if err != nil {
		return err
	}
	replies, err := db.Replies(ctx, session)
	if err != nil {
		return err
	}
	for _, a := range people {
		if a.ID == who {
			fmt.Fprintf(std.Out, "%s: %s, %d answers. Nothing was changed. To erase all of this for ever, add --yes.\n", who, a.State(), replies[who])
			return nil
		}
	}
	return idrl.Errorf(idrl.NotFound, "session %s has no annotator %q; 'tiebreak annotator list' shows the annotators", session, who)
}

// changeAnnotator returns the command that applies change to the annotator of the flags, with
// --answers one of some words, and prints the new state.
func changeAnnotator(
	change func(db *store.DB, ctx context.Context, session idrl.SessionID, who idrl.AnnotatorID, how idrl.Choice, by string, now time.Time) error,
	words ...string,
) func(context.Context, stdio, *annotatorFlags) error {
	return func(ctx context.Context, std stdio, f *annotatorFlags) error {
		how, err := f.decision(words...)
		if err != nil {
			return err
		}
		return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
			who := idrl.AnnotatorID(f.who)
			if err := change(db, ctx, spec.ID, who, how, byCommand, time.Now()); err != nil {
				if idrl.KindOf(err) == idrl.NotFound {
					err = fmt.Errorf("%w; 'tiebreak annotator list' shows the annotators", err)
				}
				return err
			}
			return printAnnotator(ctx, std, db, spec.ID, who)
		})
	}
}

// printAnnotator prints the state of an annotator.
func printAnnotator(ctx context.Context, std stdio, db *store.DB, session idrl.SessionID, who idrl.AnnotatorID) error {
	people, err := db.Annotators(ctx, session)
	for _, a := range people {
		if a.ID == who {
			fmt.Fprintf(std.Out, "%s: %s. A running server applies the change within seconds.\n", who, a.State())
		}
	}
	return err
}
