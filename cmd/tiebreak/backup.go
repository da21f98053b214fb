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
		About: "Writes a copy of the database as it is at one moment, with all sessions, answers and clips, while people answer.\n" +
			"The file has its name once it is whole, checked and on the disk; a FILE that exists is not touched. It holds names\n" +
			"and answers of people, and everything that a server needs: keep it as you keep the data folder.\n\n" +
			"When data of a person are withdrawn, the backups in the data folder are cleared of them. A copy elsewhere is yours\n" +
			"to delete: make a new one, then remove it. To go back to a backup, see docs/health.md.",
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
	fmt.Fprintf(std.Out, "Wrote %s: %d bytes, checked. It holds data of people; when one withdraws theirs, delete it and make a new one.\n", f.out, info.Size())
	return nil
}
