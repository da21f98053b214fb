package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/instructions"
	"tiebreak/store"
)

// An instructionFile is instructions from a file, and the pictures that they show.
type instructionFile struct {
	text     string // Markdown, with the pictures named as sessions name them
	pictures []record.Picture
}

func instructionsFileFlag(fs *flag.FlagSet, dst *string) {
	fs.StringVar(dst, "instructions-file", "",
		"Markdown `file` with the instructions for annotators; name a picture by its path relative to the file, or by legend:NAME for one of the environment")
}

// readInstructionFile reads a Markdown file and its pictures, which must be in its folder or below.
func readInstructionFile(path string) (instructionFile, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return instructionFile{}, idrl.Errorf(idrl.Invalid, "the folder of %s cannot be opened: %v", path, err)
	}
	defer root.Close()
	b, err := foreign.Refusal("").ReadFile(root, filepath.Base(path), 4*idrl.MaxInstructions)
	if err != nil {
		return instructionFile{}, err
	}
	return drawn(root, path, strings.TrimSpace(strings.ReplaceAll(string(b), "\r\n", "\n")))
}

// drawn reads the pictures in a Markdown text of the file path, which must be in root or below.
func drawn(root *os.Root, path, text string) (instructionFile, error) {
	h := instructionFile{text: text}
	for _, address := range instructions.Pictures(h.text) {
		if strings.HasPrefix(address, instructions.PictureScheme) || strings.HasPrefix(address, instructions.LegendScheme) {
			continue
		}
		if err := h.take(root, address); err != nil {
			return instructionFile{}, fmt.Errorf("picture %s: %w", address, err)
		}
	}
	if len(h.pictures) > record.MaxPictures {
		return instructionFile{}, idrl.Errorf(idrl.Invalid, "%s shows %d pictures; a session may have %d", path, len(h.pictures), record.MaxPictures)
	}
	return h, (idrl.Instructions{Format: idrl.Markdown, Text: h.text}).Check()
}

// take reads a picture and replaces its name in the text by the one that sessions use.
func (h *instructionFile) take(root *os.Root, address string) error {
	b, err := foreign.Refusal("").ReadFile(root, filepath.FromSlash(address), record.MaxPicture)
	if err != nil {
		return err
	}
	p, err := instructions.CheckPicture(b)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(h.pictures, func(o record.Picture) bool { return o.ID == p.ID }) {
		h.pictures = append(h.pictures, p)
	}
	h.text = strings.ReplaceAll(h.text, "]("+address, "]("+instructions.PictureScheme+string(p.ID))
	return nil
}

// keep adds the pictures to a session.
func (h instructionFile) keep(ctx context.Context, db *store.DB, id idrl.SessionID) error {
	for _, p := range h.pictures {
		if err := db.AddPicture(ctx, id, p, byCommand, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// publish makes the file at path the instructions of a session and returns their version.
func publish(ctx context.Context, db *store.DB, id idrl.SessionID, path string) (int64, error) {
	h, err := readInstructionFile(path)
	if err != nil {
		return 0, err
	}
	if err := h.keep(ctx, db, id); err != nil {
		return 0, err
	}
	return db.SetInstructions(ctx, id, idrl.Markdown, h.text, byCommand, time.Now())
}
