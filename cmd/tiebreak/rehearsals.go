package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"tiebreak/internal/study/rehearsed"
)

// rehearsalsFile is the file of a data folder where rehearsals on this machine are kept.
const rehearsalsFile = "rehearsals.json"

// rehearsals returns the rehearsals of the program and those of a data folder, which take precedence.
func rehearsals(dir string, log *slog.Logger) func() rehearsed.Table {
	path := filepath.Join(dir, rehearsalsFile)
	return func() rehearsed.Table {
		var all rehearsed.Table
		for _, r := range rehearsed.Kept().Rows {
			all.Put(r)
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return all
		}
		var own rehearsed.Table
		if err == nil {
			own, err = rehearsed.Read(b)
		}
		if err != nil {
			log.Warn("rehearsals of the data folder are left out", "file", path, "err", err)
			return all
		}
		for _, r := range own.Rows {
			all.Put(r)
		}
		return all
	}
}
