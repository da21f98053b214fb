package main

import (
	"fmt"
	"io"
	"log/slog"
)

// newLogger returns the server's log. form is text, for people, or json, for
// programs that collect logs.
func newLogger(w io.Writer, form string, verbose bool) (*slog.Logger, error) {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if verbose {
		options.Level = slog.LevelDebug
	}
	switch form {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("%w: --log must be text or json; got %q", errUsage, form)
}
