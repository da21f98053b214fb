package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/store"
	"tiebreak/store/archive"
)

func backupCommand() command {
	return shared.With(command{
		Name: "backup", Summary: "copy a data folder to one file, also while a server uses it", Usage: "--data DIR --out FILE",
		About: "Copies a data folder as it is at one moment to one file: the database with all sessions, answers, clips, steps and\n" +
			"checkpoints, imported rollouts, kept rehearsals, and keys of workers. People can go on answering. FILE is a tar file that begins with a\n" +
			"manifest: the SHA-256 of every file in it, and the version of tiebreak. It appears only when it is complete, checked and\n" +
			"on the disk; an existing FILE is not overwritten. It holds names and answers of people: protect it like the data folder.\n" +
			"Not in it: models (--models) and programs (--outside) of your own, which lie elsewhere; and data sets that were uploaded\n" +
			"(DIR/uploaded), unless --with-uploads takes them in.\n\n" +
			"'tiebreak restore' makes a data folder of it. 'tiebreak serve --backup-every 24h' makes backups by itself.\n" +
			"When a person withdraws their data, the server removes them from the backups in its own folders; copies in other places\n" +
			"are yours to delete (docs/backups.md).",
		Example: "tiebreak backup --data tiebreak-data --out study-2026-11-25.tar",
	}, (*backupFlags).declare, runBackup)
}

// backupFlags are the flags of backup.
type backupFlags struct {
	data, out string
	uploads   bool
}

func (f *backupFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.out, "out", "", "new `file` for the copy")
	fs.BoolVar(&f.uploads, "with-uploads", false, "copy the data sets that were uploaded, too: recordings show their videos")
}

func runBackup(ctx context.Context, std stdio, f *backupFlags) error {
	if f.out == "" {
		return fmt.Errorf("%w: --out is missing: name the file for the copy", errUsage)
	}
	return reading(ctx, f.data, func(db *store.DB) error {
		m, err := db.Backup(ctx, f.out, f.uploads)
		if err != nil {
			return fmt.Errorf("back up: %w", err)
		}
		fmt.Fprintf(std.Out, "Wrote %s: %s. It holds data of people: when a person withdraws their data, delete this file and make a new one.\n", f.out, contents(m))
		if len(m.LeftOut) > 0 {
			fmt.Fprintf(std.Out, "Not in it: the data sets that were uploaded (%s). Copy this folder apart, with the times of its files (cp -a), or use --with-uploads.\n", filepath.Join(f.data, store.UploadsFolder))
		}
		return nil
	})
}

// contents describes what a backup holds.
func contents(m archive.Manifest) string {
	var size int64
	for _, f := range m.Files {
		size += f.Size
	}
	files := "files"
	if len(m.Files) == 1 {
		files = "file"
	}
	return fmt.Sprintf("%d %s, %d bytes, checked; made at %s by tiebreak %s, database format %d",
		len(m.Files), files, size, m.MadeAt.Format(time.RFC3339), m.Program, m.Database)
}

func restoreCommand() command {
	return shared.With(command{
		Name: "restore", Summary: "make a data folder of a backup, or check a backup", Usage: "FILE --data DIR | FILE --verify",
		About: "Makes a data folder of a backup: of a file of 'tiebreak backup' or of a scheduled backup, or of a copy of the database\n" +
			"that an earlier version made (.db). DIR must be new or empty: to go back to a backup, stop the server, rename its folder,\n" +
			"and restore into a new one. Every file is compared with its SHA-256, and the database is checked; the database gets its\n" +
			"name last, so that an interrupted command leaves none. With --verify nothing is written.\n\n" +
			"Whoever has withdrawn their data since the backup was made is removed from it, by the list 'forgotten.jsonl' that\n" +
			"the server keeps in its data folder and beside its backups. The one beside FILE is read by itself; name others, as that\n" +
			"of the folder that was lost, with --forgotten.",
		Example:   "tiebreak restore study-2026-11-25.tar --data new-data --forgotten tiebreak-data",
		Unflagged: "file",
	}, (*restoreFlags).declare, runRestore)
}

// restoreFlags are the flags of restore.
type restoreFlags struct {
	file, data, forgotten string
	verify                bool
}

func (f *restoreFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.file, "file", "", "the backup `file`; it may stand without its flag")
	fs.StringVar(&f.data, "data", "", "new or empty `folder` for the data")
	fs.StringVar(&f.forgotten, "forgotten", "", "`lists` of people who have withdrawn (forgotten.jsonl), or folders that hold one, with commas between them")
	fs.BoolVar(&f.verify, "verify", false, "only compare every file in the backup with its SHA-256, and write nothing")
}

func runRestore(ctx context.Context, std stdio, f *restoreFlags) error {
	switch {
	case f.file == "":
		return fmt.Errorf("%w: name the backup file", errUsage)
	case f.verify:
		m, err := store.VerifyBackup(ctx, f.file)
		if err != nil {
			return err
		}
		fmt.Fprintf(std.Out, "%s is sound: %s.\n", f.file, contents(m))
		return nil
	case f.data == "":
		return fmt.Errorf("%w: --data is missing: name a new folder, or give --verify to check the backup only", errUsage)
	}
	var lists []string
	if f.forgotten != "" {
		lists = strings.Split(f.forgotten, ",")
	}
	m, forgot, err := store.Restore(ctx, f.file, f.data, lists)
	if err != nil {
		if idrl.KindOf(err) == idrl.Unavailable {
			return fmt.Errorf("restore: %w", err)
		}
		return err
	}
	fmt.Fprintf(std.Out, "Restored %s: %s.\n", f.data, contents(m))
	if forgot > 0 {
		fmt.Fprintf(std.Out, "Removed from it: the data of people who have withdrawn since, %d in all.\n", forgot)
	}
	if len(m.LeftOut) > 0 {
		fmt.Fprintf(std.Out, "Not in the backup: the data sets that were uploaded. Copy the folder %s of the old data folder into %s, with the times of its files: cp -a OLD/%[1]s %[2]s\n", store.UploadsFolder, quote(f.data))
	}
	for _, missing := range missingVideos(f.data) {
		fmt.Fprintln(std.Out, missing)
	}
	fmt.Fprintf(std.Out, "Check it with '%s', then start the server with --data %s.\n", commandLine("doctor", "--data", f.data), quote(f.data))
	return nil
}

// missingVideos says of each set of recordings in a data folder whose videos are not where they were, what is missing and what to do.
func missingVideos(data string) (out []string) {
	sets, err := recordings.List(filepath.Join(data, recordings.FolderName))
	if err != nil {
		return []string{err.Error()}
	}
	for _, dir := range sets {
		s, err := recordings.Open(dir)
		if err == nil {
			err = s.Missing()
		}
		if err != nil {
			out = append(out, fmt.Sprintf("%s%s: %v", recordings.IDPrefix, filepath.Base(dir), err))
		}
	}
	return out
}
