package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

func inviteCommand() command {
	return command{
		Name: "invite", Summary: "list, make and revoke the links for annotators", Usage: "list | new | revoke [flags]",
		About: "Manages the links by which people join a session. The server may be running. A link is shown only\n" +
			"once, when it is made.",
		Example: "tiebreak invite list ID --data tiebreak-data",
		Subs:    []command{inviteListCommand(), inviteNewCommand(), inviteRevokeCommand()},
	}
}

// inviteFlags are the flags of the commands about links.
type inviteFlags struct {
	siteFlags
	session    string
	uses, days int
	link       int64

	platform, participant, study, submission, back string
	asGiven                                        bool
}

func (f *inviteFlags) declareList(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
}

func (f *inviteFlags) declareNew(fs *flag.FlagSet) {
	f.declare(fs)
	sessionFlag(fs, &f.session)
	fs.IntVar(&f.uses, "uses", 100, "number of `people` who can join by the link")
	fs.IntVar(&f.days, "days", 30, "`days` after which it expires")
	fs.StringVar(&f.platform, "crowd", "", "the link is for a crowd `platform`: "+strings.Join(identity.CrowdPlatforms(), ", "))
	fs.StringVar(&f.participant, "participant-parameter", "", "with --crowd own, `name` of the parameter of the address with the id of the person")
	fs.StringVar(&f.study, "study-parameter", "", "with --crowd own, `name` of the parameter with the id of the study")
	fs.StringVar(&f.submission, "submission-parameter", "", "with --crowd own, `name` of the parameter with the id of the person's submission")
	fs.BoolVar(&f.asGiven, "ids-as-given", false, "with --crowd, record the ids of people and submissions themselves instead of a keyed hash of each")
	fs.StringVar(&f.back, "return", "", "with --crowd, https `address` to which people go at the end; {code} in it stands for the completion code")
}

func (f *inviteFlags) declareRevoke(fs *flag.FlagSet) {
	f.declareList(fs)
	fs.Int64Var(&f.link, "link", 0, "`number` of the link, as 'tiebreak invite list' shows it")
}

func inviteListCommand() command {
	return subcommand("invite list", "list the links of a session", (*inviteFlags).declareList,
		"Lists the links of a session: when each was made and expires, how often it was used, and whether it\nis valid.",
		func(ctx context.Context, std stdio, f *inviteFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				links, err := db.Invitations(ctx, spec.ID)
				if err != nil {
					return err
				}
				none := fmt.Sprintf("There is no link into session %s. '%s' makes one.", spec.ID, commandLine("invite", "new", "--data", f.data))
				return listed(std.Out, links, none, "LINK\tMADE\tEXPIRES\tUSED\tSTATE", func(w io.Writer, l identity.Invitation) {
					fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", l.ID, when(l.CreatedAt), when(l.ExpiresAt), l.Usage(), l.State(time.Now()))
				})
			})
		})
}

func inviteNewCommand() command {
	return subcommand("invite new", "make a link by which people join a session", (*inviteFlags).declareNew,
		"Prints a new link. Each browser that opens it becomes one annotator of the session. The address is the one\n"+
			"at which the server last ran, unless you give --origin or --addr. With --crowd it makes a link for\n"+
			"Prolific, Mechanical Turk or a platform of your own; docs/participants.md says how to enter it there.",
		func(ctx context.Context, std stdio, f *inviteFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				base, err := f.address(ctx, db)
				if err != nil {
					return err
				}
				life := time.Duration(f.days) * 24 * time.Hour
				if f.days > auth.MaxInvitationDays { // the product may be too large
					life = 1 << 62
				}
				links := auth.New(auth.Config{Store: db, Crowd: db})
				if f.platform != "" {
					return f.inviteCrowd(ctx, std, links, spec, base, life)
				}
				if f.checkNoCrowd() != nil {
					return f.checkNoCrowd()
				}
				token, err := links.NewInvitation(ctx, spec.ID, f.uses, life)
				if err != nil {
					return err
				}
				fmt.Fprintf(std.Out, "Annotator:  %s/join/%s\n", base, token)
				return f.noteDefaultAddress(ctx, std, db)
			})
		})
}

func inviteRevokeCommand() command {
	c := subcommand("invite revoke", "revoke a link", (*inviteFlags).declareRevoke,
		"Revokes a link at once. Annotators who have joined with it can go on; 'tiebreak annotator revoke' ends their part.",
		func(ctx context.Context, std stdio, f *inviteFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				if err := db.RevokeInvitation(ctx, spec.ID, f.link, byCommand, time.Now()); err != nil {
					return fmt.Errorf("%w; 'tiebreak invite list' shows them", err)
				}
				fmt.Fprintf(std.Out, "Link %d is revoked.\n", f.link)
				return nil
			})
		})
	c.Usage, c.Example = "[ID] --link N [flags]", c.Example+" --link 3"
	return c
}
