package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/internal/study/studyfile"
	"tiebreak/store"
)

// freezeFlags are the flags of session freeze.
type freezeFlags struct {
	data, session, out, verify string
}

func (f *freezeFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	sessionFlag(fs, &f.session)
	fs.StringVar(&f.out, "o", "", "`file` to write the plan to, which must not exist; default: standard output")
	fs.StringVar(&f.verify, "verify", "", "freeze nothing; say whether this `file` is a plan that was frozen, and what was changed since")
}

func sessionFreezeCommand() command {
	return subcommand("session freeze", "write the plan of a session, and record its hash", (*freezeFlags).declare,
		"Writes the settings of a session as a study file, and records its SHA-256 with the time under \"What was done\" and in the audit trail.\n"+
			"So you can show later what was planned before the first answer (docs/study.md, section 5). It can be done again after a change. The server may be running.",
		func(ctx context.Context, std stdio, f *freezeFlags) error {
			return withSession(ctx, f.data, f.session, func(db *store.DB, spec idrl.SessionSpec) error {
				switch {
				case spec.IsArena():
					return idrl.Errorf(idrl.Invalid, "session %s is an arena: it is made from other sessions, and has no study file", spec.ID)
				case f.verify != "" && f.out != "":
					return idrl.Errorf(idrl.Invalid, "-o and --verify do not go together")
				case f.verify != "":
					return verifyPlan(ctx, std.Out, db, spec, f.verify)
				}
				return freezePlan(ctx, std, db, spec, f.out)
			})
		})
}

// freezePlan writes the plan before it records it, so that no hash is recorded of a file that there is not.
func freezePlan(ctx context.Context, std stdio, db *store.DB, spec idrl.SessionSpec, path string) error {
	plan, err := studyfile.Write(spec)
	if err != nil {
		return err
	}
	answers, err := answersIn(ctx, db, spec.ID)
	if err != nil {
		return err
	}
	if path == "" {
		_, err = std.Out.Write(plan)
	} else {
		err = writeNew(path, plan)
	}
	if err != nil {
		return err
	}
	hash := planHash(plan)
	if err := db.Audit(ctx, spec.ID, byCommand, record.ActFreeze, fmt.Sprintf("SHA-256 %s, after %d answers", hash, answers), time.Now()); err != nil {
		return err
	}
	fmt.Fprintf(std.Err, "The plan is frozen, after %d answers. SHA-256: %s\n", answers, hash)
	return nil
}

func planHash(plan []byte) string {
	sum := sha256.Sum256(plan)
	return hex.EncodeToString(sum[:])
}

// answersIn returns how many informative answers a session has.
func answersIn(ctx context.Context, db *store.DB, id idrl.SessionID) (int, error) {
	list, err := db.Sessions(ctx)
	if err != nil {
		return 0, err
	}
	for _, s := range list {
		if s.Spec.ID == id {
			return s.Answers, nil
		}
	}
	return 0, idrl.Errorf(idrl.NotFound, "there is no session %q", id)
}

// mostFreezes bounds how many acts of a session are looked at for a frozen plan.
const mostFreezes = 10_000

// verifyPlan says when a file was frozen, and how the settings differ from it now.
func verifyPlan(ctx context.Context, out io.Writer, db *store.DB, spec idrl.SessionSpec, path string) error {
	plan, err := os.ReadFile(path) //nolint:gosec // the path is the user's own
	if err != nil {
		return err
	}
	acts, err := db.Acts(ctx, spec.ID, mostFreezes)
	if err != nil {
		return err
	}
	acts = slices.DeleteFunc(acts, func(a record.Act) bool { return a.Action != record.ActFreeze })
	hash, found := planHash(plan), false
	for _, a := range slices.Backward(acts) { // the oldest first
		if strings.HasPrefix(a.Object, "SHA-256 "+hash+",") {
			fmt.Fprintf(out, "Frozen on %s by %s: %s\n", a.At.UTC().Format("2 Jan 2006, 15:04:05 UTC"), a.Actor, a.Object)
			found = true
		}
	}
	if !found {
		return idrl.Errorf(idrl.NotFound, "%s is no plan that was frozen for session %s, which has %d of them: the SHA-256 of the file is %s", path, spec.ID, len(acts), hash)
	}
	file, err := studyfile.Read(path, plan)
	if err != nil {
		return fmt.Errorf("it was frozen, but its settings cannot be compared by this version: %w", err)
	}
	same := true
	for _, s := range settings.All() {
		if was, is := s.Text(file.Spec), s.Text(spec); was != is {
			fmt.Fprintf(out, "Changed since: %s was %q, and is %q.\n", s.Key, was, is)
			same = false
		}
	}
	if same {
		fmt.Fprintln(out, "All settings are as in the file.")
	}
	return nil
}
