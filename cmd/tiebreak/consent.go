package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/instructions"
	"tiebreak/store"
)

func consentFileFlag(fs *flag.FlagSet, dst *string) {
	fs.StringVar(dst, "consent-file", "", "Markdown `file` with the consent text that people read and agree to before their first question; an empty file: no consent is asked for")
}

// readConsent reads a Markdown file with a consent text, which shows no pictures.
func readConsent(path string) (string, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", idrl.Errorf(idrl.Invalid, "the folder of %s cannot be opened: %v", path, err)
	}
	defer root.Close()
	b, err := foreign.Refusal("").ReadFile(root, filepath.Base(path), 4*idrl.MaxConsent)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n"))
	if len(instructions.Pictures(text)) > 0 {
		return "", idrl.Errorf(idrl.Invalid, "%s shows pictures; a consent text cannot", path)
	}
	return text, (idrl.Consent{Text: text}).Check()
}

// setConsent makes the file at path the consent text of a session.
func setConsent(ctx context.Context, std stdio, db *store.DB, spec idrl.SessionSpec, path string) error {
	text, err := readConsent(path)
	if err != nil {
		return err
	}
	version, err := db.SetConsent(ctx, spec.ID, text, byCommand, time.Now())
	if err != nil {
		return err
	}
	what := "Every annotator is asked to agree to it before their next question"
	if text == "" {
		what = "It is empty: consent is not asked for"
	}
	fmt.Fprintf(std.Out, "Session %s has version %d of its consent text; before it was %d. %s.\n", spec.ID, version, spec.CurrentConsent().Version, what)
	return nil
}
