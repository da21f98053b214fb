package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
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
		Name: "user", Summary: "accounts, their sign-in links, and who may see which session", Usage: "add | link | list | role | revoke | logout | share | unshare [flags]",
		About: "Manages accounts (docs/people.md). The first one is an admin, who may do everything. A researcher makes sessions and\n" +
			"sees these, and those that are shared with them. A viewer looks at what is shared with them. The server may be running;\n" +
			"pages and streams of people who lose a right end within seconds.",
		Example: "tiebreak user link --data tiebreak-data",
		Subs: []command{
			userAddCommand(), userLinkCommand(), userListCommand(), userRoleCommand(), userRevokeCommand(), userLogoutCommand(), userShareCommand(), userUnshareCommand(),
		},
	}
}

// userFlags are the flags of the commands about accounts.
type userFlags struct {
	siteFlags
	name, role, session, right string
}

func (f *userFlags) declareLink(fs *flag.FlagSet) {
	f.declare(fs)
	fs.StringVar(&f.name, "name", theResearcher, "`name` of the account, which is added as a researcher's if the name is new")
}

func (f *userFlags) declareAdd(fs *flag.FlagSet) {
	f.declare(fs)
	fs.StringVar(&f.name, "name", "", "`name` of the new account")
	f.declareRole(fs)
}

func (f *userFlags) declareRole(fs *flag.FlagSet) {
	fs.StringVar(&f.role, "role", string(identity.Researcher), "`role` of the account: admin, researcher or viewer")
}

func (f *userFlags) declareList(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.session, "session", "", "`id` of a session: list who may see it")
}

func (f *userFlags) declareName(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.name, "name", "", "`name` of the account, as 'tiebreak user list' shows it")
}

func (f *userFlags) declareNewRole(fs *flag.FlagSet) {
	f.declareName(fs)
	f.declareRole(fs)
}

func (f *userFlags) declareUnshare(fs *flag.FlagSet) {
	f.declareName(fs)
	fs.StringVar(&f.session, "session", "", "`id` of the session")
}

func (f *userFlags) declareShare(fs *flag.FlagSet) {
	f.declareUnshare(fs)
	fs.StringVar(&f.right, "right", string(identity.RightView), "`right` in the session. view: look at everything; export: also fetch answers and files; change: also change settings,\n"+
		"invite and remove people; own: also say who may see it, in place of the present owner")
}

// check returns an error unless the account is named.
func (f *userFlags) check() error {
	if f.name == "" {
		return fmt.Errorf("%w: --name is missing; 'tiebreak user list' shows the names", errUsage)
	}
	return nil
}

// account opens the data folder and does something with the named account.
func (f *userFlags) account(ctx context.Context, do func(*store.DB) error) error {
	if err := f.check(); err != nil {
		return err
	}
	return withDatabase(ctx, f.data, func(db *store.DB) error {
		err := do(db)
		if idrl.KindOf(err) == idrl.NotFound {
			return fmt.Errorf("%w; 'tiebreak user list' shows the names, 'tiebreak session show' the sessions", err)
		}
		return err
	})
}

// printLink prints a new sign-in link for the account.
func (f *userFlags) printLink(ctx context.Context, std stdio, db *store.DB) error {
	base, err := f.address(ctx, db)
	if err != nil {
		return err
	}
	token, err := auth.New(auth.Config{Store: db}).NewLink(ctx, f.name, identity.Role(f.role))
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Open this link in the browser that is to be signed in. It works once, within an hour:\n\n  %s/signin?token=%s\n", base, token)
	return f.sayRole(ctx, std, db)
}

// sayRole prints the role of the account, and of one that is no admin's how to make it that.
func (f *userFlags) sayRole(ctx context.Context, std stdio, db *store.DB) error {
	users, err := db.Users(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		switch {
		case u.Name != f.name:
		case u.Role == identity.Admin:
			fmt.Fprintf(std.Out, "\nThe role of %s is admin: it may do everything.\n", idrl.VisibleName(u.Name))
		default:
			fmt.Fprintf(std.Out, "\nThe role of %s is %s. To make it an admin's account: %s\n", idrl.VisibleName(u.Name), u.Role, commandLine("user", "role", "--data", f.data, "--name", u.Name, "--role", string(identity.Admin)))
		}
	}
	return nil
}

func userAddCommand() command {
	c := subcommand("user add", "add an account, and print its sign-in link", (*userFlags).declareAdd,
		"Adds an account and prints a link that signs one browser in. The link works once, within an hour. The first account\nof all is an admin, whatever its role says.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			f.name = strings.TrimSpace(f.name)
			return f.account(ctx, func(db *store.DB) error {
				users, err := db.Users(ctx)
				if err != nil {
					return err
				}
				if slices.ContainsFunc(users, func(u identity.User) bool { return u.Name == f.name }) {
					return idrl.Errorf(idrl.Conflict, "there is an account %q already; 'tiebreak user link' makes a link for it, 'tiebreak user role' changes its role or restores it", f.name)
				}
				return f.printLink(ctx, std, db)
			})
		})
	c.Usage, c.Example = "--name NAME [flags]", c.Example+" --name ada --role researcher"
	return c
}

func userLinkCommand() command {
	return subcommand("user link", "print a link that signs an account in", (*userFlags).declareLink,
		"Prints a link that signs one browser in. It works once, within an hour, and the account's links before it work no more.\n"+
			"The address is the one at which the server last ran, unless you give --origin or --addr.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			f.role = string(identity.Researcher)
			return withDatabase(ctx, f.data, func(db *store.DB) error { return f.printLink(ctx, std, db) })
		})
}

func userListCommand() command {
	return subcommand("user list", "list the accounts, or who may see a session", (*userFlags).declareList,
		"Lists the accounts: role, state, whether there is a password, how many browsers each is signed in with, and when they were\n"+
			"seen last (within ten minutes). With the id of a session it lists who may see that session; admins see every one.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				if f.session != "" {
					return listShares(ctx, std, db, idrl.SessionID(f.session))
				}
				users, err := db.Users(ctx)
				if err != nil {
					return err
				}
				none := fmt.Sprintf("There is no account yet. %s makes a sign-in link.", signInCommand(f.data))
				return listed(std.Out, users, none, "NAME\tROLE\tSTATE\tPASSWORD\tADDED\tLOGINS\tLAST SEEN", func(w io.Writer, u identity.User) {
					password := map[bool]string{true: "yes", false: "no"}[u.Password]
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\n", idrl.VisibleName(u.Name), u.Role, u.State(), password, when(u.AddedAt), u.Logins, when(u.SeenAt))
				})
			})
		})
}

func listShares(ctx context.Context, std stdio, db *store.DB, id idrl.SessionID) error {
	if _, err := db.Spec(ctx, id); err != nil {
		return err
	}
	shares, err := db.Shares(ctx, id)
	if err != nil {
		return err
	}
	return listed(std.Out, shares, "Only admins see this session.", "NAME\tROLE\tRIGHT", func(w io.Writer, s identity.Share) {
		fmt.Fprintf(w, "%s\t%s\t%s\n", idrl.VisibleName(s.User), s.Role, s.Right)
	})
}

func userRoleCommand() command {
	c := subcommand("user role", "change the role of an account, or restore a revoked one", (*userFlags).declareNewRole,
		"Changes the role of an account. A revoked account can sign in again afterwards, by a new link.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			if !slices.Contains(identity.Roles(), identity.Role(f.role)) {
				return fmt.Errorf("%w: --role %q is none of %v", errUsage, f.role, identity.Roles())
			}
			return f.account(ctx, func(db *store.DB) error {
				err := db.SetRole(ctx, f.name, identity.Role(f.role), byCommand, time.Now())
				if err == nil {
					fmt.Fprintf(std.Out, "The role of %s is %s.\n", f.name, f.role)
				}
				return err
			})
		})
	c.Usage, c.Example = "--name NAME --role ROLE [flags]", c.Example+" --name ada --role admin"
	return c
}

func userRevokeCommand() command {
	c := subcommand("user revoke", "take an account away", (*userFlags).declareName,
		"Ends the logins, sign-in links, tokens and password of an account, which cannot sign in any more. Its sessions stay: admins\n"+
			"see them, and can give them to another owner. 'tiebreak user role' restores the account.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			return f.account(ctx, func(db *store.DB) error {
				err := db.RevokeUser(ctx, f.name, byCommand, time.Now())
				if err == nil {
					fmt.Fprintf(std.Out, "The account of %s is revoked.\n", f.name)
				}
				return err
			})
		})
	c.Usage, c.Example = "--name NAME [flags]", c.Example+" --name ada"
	return c
}

func userShareCommand() command {
	c := subcommand("user share", "give an account a right in a session", (*userFlags).declareShare,
		"Gives an account a right in a session, in place of what it had there. Admins need none.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			right := identity.Right(f.right)
			if !slices.Contains(identity.Rights(), right) {
				return fmt.Errorf("%w: --right %q is none of %v", errUsage, f.right, identity.Rights())
			}
			return f.account(ctx, func(db *store.DB) error {
				err := db.Share(ctx, identity.Share{Session: idrl.SessionID(f.session), User: f.name, Right: right}, byCommand, time.Now())
				if err == nil {
					fmt.Fprintf(std.Out, "The right of %s in session %s is %s.\n", f.name, f.session, right)
				}
				return err
			})
		})
	c.Usage, c.Example = "ID --name NAME --right RIGHT [flags]", c.Example+" mzxw6ytboi --name ada --right export"
	return c
}

func userUnshareCommand() command {
	c := subcommand("user unshare", "take the right of an account in a session away", (*userFlags).declareUnshare,
		"Takes away what an account was given in a session. The owner can only be replaced ('tiebreak user share --right own').",
		func(ctx context.Context, std stdio, f *userFlags) error {
			return f.account(ctx, func(db *store.DB) error {
				err := db.Share(ctx, identity.Share{Session: idrl.SessionID(f.session), User: f.name}, byCommand, time.Now())
				if err == nil {
					fmt.Fprintf(std.Out, "%s has no right in session %s.\n", f.name, f.session)
				}
				return err
			})
		})
	c.Usage, c.Example = "ID --name NAME [flags]", c.Example+" mzxw6ytboi --name ada"
	return c
}

func userLogoutCommand() command {
	c := subcommand("user logout", "sign an account out everywhere", (*userFlags).declareName,
		"Ends every login of an account and revokes its sign-in links. Its open pages lose the connection\n"+
			"within seconds. 'tiebreak user link' lets it in again, and its password, if it has one.",
		func(ctx context.Context, std stdio, f *userFlags) error {
			return f.account(ctx, func(db *store.DB) error {
				logins, links, err := db.LogOut(ctx, f.name, byCommand, time.Now())
				if err == nil {
					fmt.Fprintf(std.Out, "%s is signed out: %d logins ended, %d unused links revoked.\n", f.name, logins, links)
				}
				return err
			})
		})
	c.Usage, c.Example = "--name NAME [flags]", c.Example+" --name researcher"
	return c
}
