package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"

	shared "tiebreak/internal/base/command"
	"tiebreak/store"
)

func recoverCommand() command {
	return shared.With(command{
		Name: "recover", Summary: "save what can be read of a damaged database", Usage: "--data DIR --out NEW",
		About: "Makes a new data folder of what can be read of the database in DIR, page by page, with the answers that are in its\n" +
			"write-ahead log only, and of the other files of DIR. DIR is not changed; stop its server first. It prints the rows that were saved, by\n" +
			"table, and what was lost: rows on damaged pages, and rows of which nothing says to which table they belong.\n\n" +
			"A backup (tiebreak restore) is better if there is one from after the last answers: it lacks nothing. Whoever has withdrawn\n" +
			"their data stays removed. 'tiebreak doctor' checks the new folder. A session whose log has gaps is paused there;\n" +
			"its answers can be exported.",
		Example: "tiebreak recover --data tiebreak-data --out saved-data",
	}, (*recoverFlags).declare, runRecover)
}

// recoverFlags are the flags of recover.
type recoverFlags struct{ data, out string }

func (f *recoverFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.out, "out", "", "new or empty `folder` for what is saved")
}

func runRecover(ctx context.Context, std stdio, f *recoverFlags) error {
	if f.out == "" {
		return fmt.Errorf("%w: --out is missing: name a new folder", errUsage)
	}
	r, err := store.Recover(ctx, f.data, f.out)
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Read %d pages. Saved in %s, rows by table:\n", r.Pages, f.out)
	for _, table := range slices.Sorted(maps.Keys(r.Saved)) {
		if n := r.Saved[table]; n > 0 {
			fmt.Fprintf(std.Out, "  %-12s %d\n", table, n)
		}
	}
	if r.Assumed {
		fmt.Fprintf(std.Out, "The format of the database could not be read; that of this version was assumed, format %d.\n", r.Format)
	}
	if r.Forgot > 0 {
		fmt.Fprintf(std.Out, "Removed: the data of people who had withdrawn, %d in all.\n", r.Forgot)
	}
	if len(r.Lost) == 0 {
		fmt.Fprintln(std.Out, "Nothing was lost.")
	} else {
		fmt.Fprintln(std.Out, "Lost, or not certain:")
	}
	for _, what := range r.Lost {
		fmt.Fprintf(std.Out, "  %s\n", what)
	}
	fmt.Fprintf(std.Out, "Check it with '%s', then start the server with --data %s.\n", commandLine("doctor", "--data", f.out), quote(f.out))
	return nil
}
