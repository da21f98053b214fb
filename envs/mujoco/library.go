package mujoco

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
)

// libraryFiles are the libraries that come with the project, one for each environment of
// Catalogue.
//
//go:embed library
var libraryFiles embed.FS

// LibraryKey returns a hash of what the behaviours of an environment of Catalogue depend on:
// its model, its settings, and the gaits that it uses.
func LibraryKey(id string) (string, error) {
	for _, l := range Catalogue() {
		if l.ID == id {
			env, err := l.New()
			if err != nil {
				return "", err
			}
			return libraryKey(env.spec, modelFile(id))
		}
	}
	return "", idrl.Errorf(idrl.Invalid, "there is no environment %q", id)
}

func modelFile(id string) string {
	for _, r := range robots() {
		if r.id == id {
			return r.file
		}
	}
	return strings.ReplaceAll(id, "-", "_") + ".xml" // of a corridor
}

func libraryKey(spec idrl.EnvSpec, file string) (string, error) {
	xml, err := files.ReadFile("models/" + file)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	h.Write(xml)
	fmt.Fprintln(h, spec.ID, spec.Version, spec.ObsDim, spec.FeatureNames, spec.Actions, spec.StepSeconds, spec.Horizon)
	if spec.ID == AntCorridorID {
		gait, err := FindGait(AntForward)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(h, gait.Key())
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// Library returns the behaviours that come with an environment of Catalogue, in the order
// in which they are to be shown; there may be none. It returns an error of kind Invalid if
// they are of another model or other settings.
func Library(id string) ([]library.Behaviour, error) {
	b, err := libraryFiles.ReadFile("library/" + id + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := LibraryKey(id)
	if err != nil {
		return nil, err
	}
	f, err := library.Find(b, id, key)
	return f.Behaviours, err
}

// libraryEnding follows the name of a model's JSON file, without its own ending, in the
// name of the file of its library.
const libraryEnding = ".library.json"

// IsLibrary reports whether the file at path is named as a library of a model is.
func IsLibrary(path string) bool { return strings.HasSuffix(path, libraryEnding) }

// LibraryPath returns where the library of the model described at path is kept.
func LibraryPath(path string) string { return strings.TrimSuffix(path, ".json") + libraryEnding }

// maxLibraryBytes bounds the file of a library that is read.
const maxLibraryBytes = 16 << 20

// Library returns the behaviours in the file beside the model, none if there is no such
// file. It returns an error of kind Invalid if they are of another model or other settings,
// or the file cannot be read.
func (c *Custom) Library(path string) ([]library.Behaviour, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.Size() > maxLibraryBytes {
		err = fmt.Errorf("%s has more than %d bytes", filepath.Base(path), maxLibraryBytes)
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "the library of behaviours of %s cannot be read: %v", c.ID, err)
	}
	f, err := library.Find(b, c.ID, c.Version)
	return f.Behaviours, err
}
