package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/internal/people/identity"
	"tiebreak/store"
)

// theResearcher is the name of the researcher of the first sign-in link.
const theResearcher = "researcher"

func userCommand() command {
	return command{
		Name: "user", Summary: "sign-in links and logins of researchers", Usage: "link | list | logout [flags]",
		About:   "Manages sign-in links and logins of researchers. The server may be running.",
		Example: "tiebreak user link --data tiebreak-data",
		Subs:    []command{userLinkCommand(), userListCommand(), userLogoutCommand()},
	}
}

// userFlags are the flags of the commands about researchers.
type userFlags struct {
	siteFlags
	name string
}

func (f *userFlags) declareLink(fs *flag.FlagSet) {
	f.declare(fs)
	fs.StringVar(&f.name, "name", theResearcher, "`name` of the researcher, who is added if the name is new")
}

func (f *userFlags) declareList(fs *flag.FlagSet) { dataFlag(fs, &f.data) }

func (f *userFlags) declareLogout(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.name, "name", "", "`name` of the researcher, as 'tiebreak user list' shows it")
}

func userLinkCommand() command {
	return subcommand("user link", "print a link that signs a researcher in", (*userFlags).declareLink,
		"Prints a link that signs one browser in as a researcher. It works once, within an hour. The address is\n"+
			"the one at which the server last ran, unless you give --origin or --addr.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				base, err := f.address(ctx, db)
				if err != nil {
					return err
				}
				token, err := auth.New(auth.Config{Store: db}).NewResearcherLink(ctx, f.name)
				if err != nil {
					return err
				}
				fmt.Fprintf(std.Out, "Open this link in the browser that is to be signed in. It works once, within an hour:\n\n  %s/signin?token=%s\n", base, token)
				return nil
			})
		})
}

func userListCommand() command {
	return subcommand("user list", "list the researchers and their logins", (*userFlags).declareList,
		"Lists the researchers, how many browsers each is signed in with, and when they were seen last (within\nten minutes).",
		func(ctx context.Context, std stdio, f *userFlags) error {
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				users, err := db.Users(ctx)
				if err != nil {
					return err
				}
				none := fmt.Sprintf("There is no researcher yet. %s makes a sign-in link.", signInCommand(f.data))
				return listed(std.Out, users, none, "NAME\tADDED\tLOGINS\tLAST SEEN", func(w io.Writer, u identity.User) {
					fmt.Fprintf(w, "%s\t%s\t%d\t%s\n", idrl.VisibleName(u.Name), when(u.AddedAt), u.Logins, when(u.SeenAt))
				})
			})
		})
}

func userLogoutCommand() command {
	c := subcommand("user logout", "sign a researcher out everywhere", (*userFlags).declareLogout,
		"Ends every login of a researcher and revokes their sign-in links. Their open pages lose the connection\n"+
			"within seconds. 'tiebreak user link' lets them in again.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			if f.name == "" {
				return fmt.Errorf("%w: --name is missing; 'tiebreak user list' shows the names", errUsage)
			}
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				logins, links, err := db.LogOut(ctx, f.name, byCommand, time.Now())
				if idrl.KindOf(err) == idrl.NotFound {
					return fmt.Errorf("%w; 'tiebreak user list' shows the names", err)
				}
				if err == nil {
					fmt.Fprintf(std.Out, "%s is signed out: %d logins ended, %d unused links revoked.\n", f.name, logins, links)
				}
				return err
			})
		})
	c.Usage, c.Example = "--name NAME [flags]", c.Example+" --name researcher"
	return c
}
