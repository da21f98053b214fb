package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/store"
)

func auditCommand() command {
	return command{
		Name: "audit", Summary: "what was done on the server, by whom, and whether that record is whole", Usage: "list | verify [flags]",
		About: "Reads the audit trail of a data folder. Each row commits to the one before by a hash, so that a row that\n" +
			"was changed or removed is found. The server may be running.",
		Example: "tiebreak audit verify --data tiebreak-data",
		Subs:    []command{auditListCommand(), auditVerifyCommand()},
	}
}

// auditFlags are the flags of the commands about the audit trail.
type auditFlags struct {
	data, session, actor, action, head string
	answers, json                      bool
	limit                              int
}

func (f *auditFlags) declareList(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.session, "session", "", "only the acts upon the session with this `id`")
	fs.StringVar(&f.actor, "actor", "", "only the acts of this `name`: a researcher, the id of an annotator, \"command line\"")
	fs.StringVar(&f.action, "action", "", "only this `act`, such as invite")
	fs.BoolVar(&f.answers, "answers", false, "answers and their withdrawals, too")
	fs.IntVar(&f.limit, "limit", 50, "`number` of rows at most, the newest first; 0: all")
	fs.BoolVar(&f.json, "json", false, "print JSON, one object a line")
}

func (f *auditFlags) declareVerify(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.head, "head", "", "`POSITION:HASH` that an earlier check printed: shows also whether rows were removed from the end, or all hashes made anew")
	fs.BoolVar(&f.json, "json", false, "print JSON")
}

func auditListCommand() command {
	return subcommand("audit list", "list what was done", (*auditFlags).declareList,
		"Lists what was done, the newest first. Acts of the server and of commands may have no name. Where somebody withdrew their\n"+
			"data their rows are there without who and what.",
		func(ctx context.Context, std stdio, f *auditFlags) error {
			if f.limit < 0 {
				return fmt.Errorf("%w: --limit must be 0 or more; got %d", errUsage, f.limit)
			}
			return reading(ctx, f.data, func(db *store.DB) error { return f.list(ctx, std, db) })
		})
}

func (f *auditFlags) list(ctx context.Context, std stdio, db *store.DB) error {
	filter := record.AuditFilter{Session: idrl.SessionID(f.session), Actor: f.actor, Action: f.action, Answers: f.answers, Limit: f.limit}
	if f.json {
		lines := json.NewEncoder(std.Out)
		return db.AuditTrail(ctx, filter, func(e record.AuditEntry) error { return lines.Encode(e) })
	}
	var rows []record.AuditEntry
	if err := db.AuditTrail(ctx, filter, func(e record.AuditEntry) error {
		rows = append(rows, e)
		return nil
	}); err != nil {
		return err
	}
	return listed(std.Out, rows, "There is no such row.", "ROW\tWHEN\tBY\tACT\tOBJECT\tSESSION", func(w io.Writer, e record.AuditEntry) {
		who := idrl.VisibleName(e.Actor)
		if e.Erased {
			who = "(erased)"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Position, when(e.At), who, e.Action, idrl.VisibleName(e.Object), e.Session)
	})
}

func auditVerifyCommand() command {
	return subcommand("audit verify", "check that no row of the audit trail was changed or removed", (*auditFlags).declareVerify,
		"Checks the hashes of all rows, names the first row that does not fit, and prints the last row's hash. Keep\n"+
			"that line elsewhere and give it as --head next time: somebody who can write the file could make all hashes\n"+
			"anew, or remove the last rows, which only a hash that was kept shows.\n"+
			"A withdrawal of data empties rows, which then still fit. Exit status 1 if a row does not fit.",
		func(ctx context.Context, std stdio, f *auditFlags) error {
			head, err := parseHead(f.head)
			if err != nil {
				return err
			}
			return reading(ctx, f.data, func(db *store.DB) error {
				c, err := db.VerifyAudit(ctx, head)
				if err != nil {
					return err
				}
				if f.json {
					return printJSON(std.Out, c)
				}
				fmt.Fprintf(std.Out, "The audit trail fits: %s.\n", record.Counted(int(c.Rows), "row"))
				if c.Erased > 0 {
					fmt.Fprintf(std.Out, "Rows that withdrawals of data have emptied: %d\n", c.Erased)
				}
				if c.Waiting > 0 {
					fmt.Fprintf(std.Out, "Rows of an earlier version without a hash yet: %d; a running server adds them\n", c.Waiting)
				}
				if c.Head.Position > 0 {
					fmt.Fprintf(std.Out, "Head: %d:%s\n", c.Head.Position, c.Head.Hash)
				}
				return nil
			})
		})
}

// parseHead reads POSITION:HASH; empty is none.
func parseHead(text string) (h record.AuditHead, err error) {
	if text == "" {
		return h, nil
	}
	position, hash, ok := strings.Cut(text, ":")
	if h.Position, err = strconv.ParseInt(position, 10, 64); err != nil || !ok || h.Position < 1 || len(hash) != 64 {
		return h, fmt.Errorf("%w: --head is POSITION:HASH, as 'tiebreak audit verify' prints it; got %.80q", errUsage, text)
	}
	h.Hash = hash
	return h, nil
}
