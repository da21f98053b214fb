package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	shared "tiebreak/internal/base/command"
	"tiebreak/store"
)

func backupCommand() command {
	return shared.With(command{
		Name: "backup", Summary: "copy the database of a data folder, also while a server uses it", Usage: "--data DIR --out FILE",
		About: "Copies the database as it is at one moment, with all sessions, answers and clips. People can go on answering.\n" +
			"FILE appears only when the copy is complete, checked and on the disk; an existing FILE is not overwritten. It holds names\n" +
			"and answers of people, and everything that a server needs: protect it like the data folder.\n\n" +
			"When a person's data are withdrawn, they are also erased from the backups in the data folder. Copies in other places you\n" +
			"to delete: make a new one, then remove it. To go back to a backup, see docs/serving.md.",
		Example: "tiebreak backup --data tiebreak-data --out study-2026-11-25.db",
	}, (*backupFlags).declare, runBackup)
}

// backupFlags are the flags of backup.
type backupFlags struct{ data, out string }

func (f *backupFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.out, "out", "", "new `file` for the copy")
}

func runBackup(ctx context.Context, std stdio, f *backupFlags) error {
	if f.out == "" {
		return fmt.Errorf("%w: --out is missing: name the file for the copy", errUsage)
	}
	return reading(ctx, f.data, func(db *store.DB) error { return f.write(ctx, std, db) })
}

// write writes the copy.
func (f *backupFlags) write(ctx context.Context, std stdio, db *store.DB) (err error) {
	if err := db.Backup(ctx, f.out); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	info, err := os.Stat(f.out)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Wrote %s: %d bytes, checked. It holds data of people: when a person withdraws their data, delete this file and make a new one.\n", f.out, info.Size())
	return nil
}
