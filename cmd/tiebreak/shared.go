package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

// byCommand is the actor in the audit trail for an act of a command.
const byCommand = "command line"

// withDatabase calls f with the database of a data folder, which a server may be using.
func withDatabase(ctx context.Context, dir string, f func(*store.DB) error) (err error) {
	db, err := store.OpenBeside(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return f(db)
}

// withNewDatabase is withDatabase where a data folder without a database gets one.
func withNewDatabase(ctx context.Context, dir string, f func(*store.DB) error) (err error) {
	db, err := openShared(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return f(db)
}

// reading calls f with the database of a data folder, which a server may be using, to read it.
func reading(ctx context.Context, dir string, f func(*store.DB) error) (err error) {
	db, err := store.OpenReadOnly(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return f(db)
}

// withSession calls f with a session of a data folder, which a server may be using. Without id it
// takes the only session.
func withSession(ctx context.Context, dir, id string, f func(*store.DB, idrl.SessionSpec) error) error {
	return withDatabase(ctx, dir, func(db *store.DB) error {
		if id == "" {
			list, err := studiesOf(ctx, db)
			if err != nil {
				return err
			}
			if len(list) != 1 {
				return idrl.Errorf(idrl.Invalid, "%s holds %d sessions; name one ('%s' lists them)",
					dir, len(list), commandLine("export", "--data", dir))
			}
			return f(db, list[0].Spec)
		}
		spec, err := db.Spec(ctx, idrl.SessionID(id))
		if err != nil {
			return fmt.Errorf("%w; '%s' lists the sessions", err, commandLine("export", "--data", dir))
		}
		return f(db, spec)
	})
}

// studiesOf returns the sessions of a data folder, the newest first, without rehearsals; if there is nothing else, the rehearsals.
func studiesOf(ctx context.Context, db *store.DB) ([]record.Summary, error) {
	all, err := db.Sessions(ctx)
	list := slices.DeleteFunc(slices.Clone(all), func(s record.Summary) bool { return s.Spec.Rehearsal })
	if len(list) == 0 {
		list = all
	}
	return list, err
}

// subcommand returns a command on a data folder whose flags are an F, declared by declare.
func subcommand[F any](name, summary string, declare func(*F, *flag.FlagSet), about string, run func(context.Context, stdio, *F) error) command {
	c := ofFolder(name, summary, about)
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	if declare(new(F), fs); fs.Lookup(unflagged) != nil {
		c.Usage = "[ID] [flags]"
	}
	return shared.With(c, declare, run)
}

// unflagged is the flag of commands whose value, the id of a session, may stand alone.
const unflagged = "session"

// ofFolder returns a command on a data folder, without its flags.
func ofFolder(name, summary, about string) command {
	return command{Name: name, Summary: summary, Usage: "[flags]", Unflagged: unflagged, About: about, Example: "tiebreak " + name + " --data tiebreak-data"}
}

func sessionFlag(fs *flag.FlagSet, id *string) {
	fs.StringVar(id, "session", "", "`id` of the session; not needed if there is only one")
}

func dataFlag(fs *flag.FlagSet, dir *string) {
	fs.StringVar(dir, "data", envOr("TIEBREAK_DATA", defaultData), "data `folder` of the server")
}

// siteFlags are the flags of commands that print links.
type siteFlags struct {
	data, origin, addr string
}

func (f *siteFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.origin, "origin", os.Getenv("TIEBREAK_ORIGIN"), "public `address` of the site, for the link; default: the address at which the server last ran")
	fs.StringVar(&f.addr, "addr", os.Getenv("TIEBREAK_ADDR"), "`host:port` of the server, for the link; default: the one at which the server last ran")
}

// addressKey is the key in the data folder of the address at which the server last ran.
const addressKey = "address"

// checkSite returns an error if the flags for the address are wrong.
func (f *siteFlags) checkSite() error {
	if f.origin == "" && f.addr == "" {
		return nil
	}
	_, err := baseOf(f.addr, f.origin)
	return err
}

// noteDefaultAddress prints where the address of a link comes from, if nothing is known about it: no server
// has run on the data folder, and no flag names one.
func (f *siteFlags) noteDefaultAddress(ctx context.Context, std stdio, db *store.DB) error {
	if f.origin != "" || f.addr != "" {
		return nil
	}
	recorded, err := db.Meta(ctx, addressKey)
	if err == nil && recorded == "" {
		fmt.Fprintf(std.Out, "No server has run on this data folder yet, so the link has the default address of 'tiebreak serve'. To change it, give --addr or --origin.\n")
	}
	return err
}

// address returns the address of the site.
func (f *siteFlags) address(ctx context.Context, db *store.DB) (string, error) {
	if f.origin != "" || f.addr != "" {
		return baseOf(f.addr, f.origin)
	}
	recorded, err := db.Meta(ctx, addressKey)
	if recorded == "" {
		recorded = "http://" + defaultAddr
	}
	return recorded, err
}

// commandLine returns the command line that runs this program with args, in the form in which the
// user has started it.
func commandLine(args ...string) string {
	words := []string{programName(os.Args[0])}
	if strings.HasPrefix(os.Args[0], filepath.Join(os.TempDir(), "go-build")) { // go run deletes it
		words = []string{"go", "run", "./cmd/tiebreak"}
	}
	for _, a := range args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}

// programName returns the program as it was called: by its path, or by its name if
// the shell found it.
func programName(arg string) string {
	if filepath.Base(arg) == arg {
		return arg
	}
	return quote(arg)
}

// quote returns s as one word of a shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// table prints a header and n rows in columns; cells end with tabs.
func table(out io.Writer, header string, n int, row func(w io.Writer, i int)) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, header)
	for i := range n {
		row(w, i)
	}
	return w.Flush()
}

// listed prints a table of a list, or none if that is empty.
func listed[T any](out io.Writer, list []T, none, header string, row func(w io.Writer, one T)) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(out, none)
		return err
	}
	return table(out, header, len(list), func(w io.Writer, i int) { row(w, list[i]) })
}

// printJSON prints a value as JSON for people.
func printJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// when returns a time as a command prints it.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}
