package labels

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/numpy"
)

// refused returns an error of kind Invalid about what was given. The code is for programs, and stays.
func refused(code, format string, args ...any) error { return refusal.Errorf(code, format, args...) }

const refusal = foreign.Refusal("labels")

// Limits of what is read.
const (
	maxFile   = 8 << 20 // bytes
	maxLabels = 100_000
	maxFiles  = 10_000 // in the folder
)

// A role is what one of the three files says.
type role int

const (
	choices role = iota
	first
	second
)

// roles are how the files of each role are called: by Uni-RLHF, by the adapters in bundles, by
// Preference Transformer.
var roles = [...]struct{ what, like string }{
	choices: {"the labels", "human_label…, fake_label… or label_human"},
	first:   {"the segments shown first", "indices_1… or indices_num…"},
	second:  {"the segments shown second", "indices_2…"},
}

// suffixes that a file may have; released files are pickles (isPickle).
var suffixes = []string{".pkl", ".pickle", ".npy"}

// roleOf returns the role of a file by its name, and the rest of the name: of released files, the
// task that they are of.
func roleOf(name string) (r role, rest string, ok bool) {
	for _, s := range suffixes {
		if stem, cut := strings.CutSuffix(name, s); cut {
			name = stem
			break
		}
	}
	for _, p := range []struct {
		prefix string
		role
	}{{"human_label", choices}, {"fake_label", choices}, {"label_human", choices}, {"indices_1", first}, {"indices_2", second}, {"indices", first}} {
		rest, cut := strings.CutPrefix(name, p.prefix)
		if cut && (rest == "" && p.prefix != "indices" || strings.HasPrefix(rest, "_")) {
			return p.role, rest, true
		}
	}
	return 0, "", false
}

// A file is one that was found.
type file struct {
	name, rest string
}

// find returns the three files of a folder. Others are not looked at.
func find(root *os.Root, path string) (found [3]file, err error) {
	d, err := root.Open(".")
	if err != nil {
		return found, refused("missing", "the folder %s cannot be read: %v", path, err)
	}
	names, err := d.Readdirnames(maxFiles)
	if err := errors.Join(err, d.Close()); err != nil && !errors.Is(err, io.EOF) {
		return found, refused("missing", "the folder %s cannot be read: %v", path, err)
	}
	slices.Sort(names)
	for _, name := range names {
		r, rest, ok := roleOf(name)
		switch {
		case !ok:
		case found[r].name != "":
			return found, refused("two", "%s and %s in %s can both be %s: put the three files of one task into a folder of their own", found[r].name, name, path, roles[r].what)
		default:
			found[r] = file{name, rest}
		}
	}
	for r, f := range found {
		if f.name == "" {
			return found, refused("missing", "there is no file of %s in %s: its name begins like %s, and ends in .npy or nothing", roles[r].what, path, roles[r].like)
		}
	}
	return found, sameTask(found)
}

// sameTask returns an error if the names of files say that they are of different tasks: the arrays
// are joined by position, so that nothing else would tell.
func sameTask(found [3]file) error {
	for i, f := range found {
		for _, o := range found[:i] {
			if f.rest != "" && o.rest != "" && f.rest != o.rest {
				return refused("names", "%s and %s are of different tasks by their names, and the files are joined by position: put the three files of one task into a folder of their own", o.name, f.name)
			}
		}
	}
	return nil
}

var (
	namedSteps  = regexp.MustCompile(`_(?:len_|q)(\d{1,6})(?:_|$)`)
	namedNumber = regexp.MustCompile(`_num_?(\d{1,9})(?:_|$)`)
)

// named returns a number that the names of the files say, 0 if none does.
func named(found [3]file, in *regexp.Regexp) int {
	for _, f := range found {
		if m := in.FindStringSubmatch(f.rest); m != nil {
			n, _ := strconv.Atoi(m[1]) // digits
			return n
		}
	}
	return 0
}

// isPickle reports whether a file is one by its name, or by its first byte: of pickles from protocol 2
// on. An array is none, whatever its name is.
func isPickle(name string, content []byte) bool {
	if bytes.HasPrefix(content, []byte(numpy.Magic)) {
		return false
	}
	return strings.HasSuffix(name, ".pkl") || strings.HasSuffix(name, ".pickle") || bytes.HasPrefix(content, []byte{0x80})
}
