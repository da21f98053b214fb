package main

import (
	"cmp"
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

func tokenCommand() command {
	return command{
		Name: "token", Summary: "make, list and revoke tokens of the HTTP API", Usage: "new | list | revoke [flags]",
		About: "Manages the tokens with which programs use the HTTP API (docs/api.md). The server may be running. The text\n" +
			"of a token is shown only once, when it is made; the data folder holds its SHA-256.",
		Example: "tiebreak token new --data tiebreak-data --scope read",
		Subs:    []command{tokenNewCommand(), tokenListCommand(), tokenRevokeCommand()},
	}
}

// tokenFlags are the flags of the commands about tokens.
type tokenFlags struct {
	data, session, scope, name, user string
	days                             int
	token                            int64
}

func (f *tokenFlags) declareNew(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.scope, "scope", string(identity.ScopeRead), "`what` the token allows. read: answers, posterior, policies and exports; label: only to answer questions, as an\n"+
		"annotator of its own; write: as read, and to pause, resume and close; upload: as read, and to\n"+
		"upload clips and make sessions over them")
	fs.StringVar(&f.session, "session", "", "`id` of the only session for which it is valid; default: all sessions; required for the scope label")
	fs.IntVar(&f.days, "days", 90, "`days` after which it expires")
	fs.StringVar(&f.name, "name", "", "`text` that describes its purpose")
	fs.StringVar(&f.user, "user", "", "`name` of the account whose rights limit it, and that owns the sessions that it makes; default: none, so that\n"+
		"it is limited by its scope alone")
}

func (f *tokenFlags) declareList(fs *flag.FlagSet) { dataFlag(fs, &f.data) }

func (f *tokenFlags) declareRevoke(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.Int64Var(&f.token, "token", 0, "`number` of the token, as 'tiebreak token list' shows it")
}

func tokenNewCommand() command {
	c := subcommand("token new", "make a token", (*tokenFlags).declareNew,
		"Prints a new token. A program sends it in the header \"Authorization: Bearer TOKEN\". Keep it secret: any program that has it\ncan do what its scope allows.",
		func(ctx context.Context, std stdio, f *tokenFlags) error {
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				life := time.Duration(min(f.days, auth.MaxTokenDays+1)) * 24 * time.Hour // the product may be too large
				k := identity.Token{Name: f.name, Scope: identity.Scope(f.scope), Session: idrl.SessionID(f.session), User: f.user}
				text, k, err := auth.New(auth.Config{Store: db, Tokens: db}).NewToken(ctx, k, life, byCommand)
				if err == nil {
					fmt.Fprintf(std.Out, "Token:    %s\nNumber:   %d\nExpires:  %s\n", text, k.ID, when(k.ExpiresAt))
				}
				return err
			})
		})
	c.Example += " --scope read"
	return c
}

func tokenListCommand() command {
	return subcommand("token list", "list the tokens", (*tokenFlags).declareList,
		"Lists the tokens: what each is for, when it expires, and whether it is valid.",
		func(ctx context.Context, std stdio, f *tokenFlags) error {
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				list, err := db.Tokens(ctx)
				if err != nil {
					return err
				}
				none := fmt.Sprintf("There is no token. '%s' makes one.", commandLine("token", "new", "--data", f.data))
				return listed(std.Out, list, none, "TOKEN\tSCOPE\tSESSION\tANNOTATOR\tACCOUNT\tMADE\tEXPIRES\tSTATE\tNAME", func(w io.Writer, k identity.Token) {
					fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Scope, cmp.Or(string(k.Session), "all"), cmp.Or(string(k.Annotator), "-"), cmp.Or(idrl.VisibleName(k.User), "-"),
						when(k.CreatedAt), when(k.ExpiresAt), k.State(time.Now()), k.Name)
				})
			})
		})
}

func tokenRevokeCommand() command {
	c := subcommand("token revoke", "revoke a token", (*tokenFlags).declareRevoke,
		"Revokes a token: the server refuses the next request with it. Answers that were given with it stay.",
		func(ctx context.Context, std stdio, f *tokenFlags) error {
			if f.token < 1 {
				return fmt.Errorf("%w: --token is missing; 'tiebreak token list' shows the numbers", errUsage)
			}
			return withDatabase(ctx, f.data, func(db *store.DB) error {
				err := db.RevokeToken(ctx, f.token, byCommand, time.Now())
				if err == nil {
					fmt.Fprintf(std.Out, "Token %d is revoked.\n", f.token)
				}
				return err
			})
		})
	c.Usage, c.Example = "--token N [flags]", c.Example+" --token 1"
	return c
}
