package labels

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"tiebreak/internal/data/numpy"
	"tiebreak/internal/idrl"
)

// A Set is the comparisons of one task, in the order of the files.
type Set struct {
	First, Second []int         // rows of the data set in which the segments begin
	Choices       []idrl.Choice // ChoseA: the first segment is better
	Steps         int           // of a segment, by the names of the files; 0 if they do not say
}

// Read reads the three files of a folder. It returns an error of kind Invalid, whose text begins
// with a code (docs/rollouts.md), if one is missing or not as it must be. Pickles are refused.
func Read(path string) (s *Set, err error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, refused("missing", "the folder of labels cannot be opened: %v", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	found, err := find(root, path)
	if err != nil {
		return nil, err
	}
	var arrays [3][][]float64
	for r, f := range found {
		b, err := refusal.ReadFile(root, f.name, maxFile)
		if err != nil {
			return nil, err
		}
		if isPickle(f.name, b) {
			folder := filepath.Clean(path)
			return nil, refused("pickle", "%q is a pickle, which can run code and is therefore not read: convert the folder with python docs/examples/labels/arrays.py %q %[3]q, and import %[3]q", f.name, folder, folder+"-arrays")
		}
		if arrays[r], err = rows(f.name, b); err != nil {
			return nil, err
		}
	}
	s = &Set{Steps: named(found, namedSteps)}
	if s.Choices, err = choicesOf(found[choices].name, arrays[choices]); err != nil {
		return nil, err
	}
	if s.First, err = startsOf(found[first].name, arrays[first]); err != nil {
		return nil, err
	}
	if s.Second, err = startsOf(found[second].name, arrays[second]); err != nil {
		return nil, err
	}
	n := len(s.Choices)
	switch said := named(found, namedNumber); {
	case len(s.First) != n || len(s.Second) != n:
		return nil, refused("length", "%s holds %d, %s %d and %s %d: the files are joined by position, and must be equally long",
			found[choices].name, n, found[first].name, len(s.First), found[second].name, len(s.Second))
	case n == 0:
		return nil, refused("length", "%s is empty", found[choices].name)
	case n > maxLabels:
		return nil, refused("limit", "there are %d comparisons; at most %d are read", n, maxLabels)
	case said != 0 && said != n:
		return nil, refused("length", "there are %d comparisons, but the names of the files say %d", n, said)
	}
	return s, nil
}

// rows returns those of an array: of the shape (n), rows of one number.
func rows(name string, content []byte) ([][]float64, error) {
	f, err := numpy.Open(bytes.NewReader(content), 2*maxLabels)
	if errors.Is(err, numpy.ErrMany) {
		return nil, refused("limit", "%s cannot be read: %v; at most %d comparisons are read", name, err, maxLabels)
	}
	var out [][]float64
	if err == nil {
		out, err = f.Rows(2 * maxLabels)
	}
	if err == nil {
		if _, after := io.ReadFull(f, make([]byte, 1)); after == nil {
			err = fmt.Errorf("it goes on after the numbers of its shape %v", f.Shape)
		}
	}
	if err != nil {
		return nil, refused("array", "%s cannot be read: %v", name, err)
	}
	return out, nil
}

// startsOf returns the rows of the data set in which the segments begin.
func startsOf(name string, v [][]float64) ([]int, error) {
	out := make([]int, len(v))
	for i, row := range v {
		if len(row) != 1 {
			return nil, refused("array", "%s has %d numbers in each row; the shape (n) or (n, 1) is wanted", name, len(row))
		}
		x := row[0]
		if x < 0 || x > 1<<53 || x != math.Trunc(x) {
			return nil, refused("row", "number %d of %s is %v, which is no row of a data set", i, name, x)
		}
		out[i] = int(x)
	}
	return out, nil
}

// coded are the codes that choices have in an array: a number each, or the probabilities of
// preferring each segment.
var coded = map[int]struct {
	choices map[[2]float64]idrl.Choice // of the first width numbers
	means   string
}{
	1: {
		map[[2]float64]idrl.Choice{{0}: idrl.ChoseA, {1}: idrl.ChoseB, {-1}: idrl.Equal},
		"0 says that the first segment is better, 1 the second, and -1 that they are equal",
	},
	2: {
		map[[2]float64]idrl.Choice{{1, 0}: idrl.ChoseA, {0, 1}: idrl.ChoseB, {0.5, 0.5}: idrl.Equal},
		"(1, 0) says that the first segment is better, (0, 1) the second, and (0.5, 0.5) that they are equal",
	},
}

// choicesOf returns the choices that an array states.
func choicesOf(name string, v [][]float64) ([]idrl.Choice, error) {
	out := make([]idrl.Choice, len(v))
	for i, label := range v {
		code, ok := coded[len(label)]
		if !ok {
			return nil, refused("array", "%s has %d numbers in each row; the shape (n), (n, 1) or (n, 2) is wanted", name, len(label))
		}
		var key [2]float64
		copy(key[:], label)
		if out[i], ok = code.choices[key]; !ok {
			return nil, refused("value", "label %d in %s is %s: %s", i, name, strings.Trim(fmt.Sprint(label), "[]"), code.means)
		}
	}
	return out, nil
}
