package labels

import (
	"errors"
	"fmt"
	"math"
	"os"
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
// with a code (docs/labels.md), if one is missing or not as it must be. Pickles are not executed.
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
	var arrays [3]numpy.Array
	for r, f := range found {
		b, err := content(root, f.name)
		if err != nil {
			return nil, err
		}
		arrays[r], err = numpy.Read(b, 2*maxLabels)
		if errors.Is(err, numpy.ErrMany) {
			return nil, refused("limit", "%s cannot be read: %v; at most %d comparisons are read", f.name, err, maxLabels)
		}
		if err != nil {
			return nil, refused("array", "%s cannot be read: %v", f.name, err)
		}
	}
	s = &Set{Steps: named(found, namedSteps)}
	if s.Choices, err = choicesOf(found[choices].name, arrays[choices]); err != nil {
		return nil, err
	}
	if s.First, err = rowsOf(found[first].name, arrays[first]); err != nil {
		return nil, err
	}
	if s.Second, err = rowsOf(found[second].name, arrays[second]); err != nil {
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

// column returns the numbers of an array of the shape (n) or (n, 1).
func column(name string, a numpy.Array) ([]float64, error) {
	if len(a.Shape) == 1 || len(a.Shape) == 2 && a.Shape[1] == 1 {
		return a.Numbers, nil
	}
	return nil, refused("array", "%s has the shape %v; (n) or (n, 1) is wanted", name, a.Shape)
}

// rowsOf returns the rows that an array holds.
func rowsOf(name string, a numpy.Array) ([]int, error) {
	v, err := column(name, a)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(v))
	for i, x := range v {
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
func choicesOf(name string, a numpy.Array) ([]idrl.Choice, error) {
	width := 2
	if len(a.Shape) != 2 || a.Shape[1] != 2 {
		width = 1
		if _, err := column(name, a); err != nil {
			return nil, err
		}
	}
	var out []idrl.Choice
	for i := 0; i < len(a.Numbers); i += width {
		label := a.Numbers[i : i+width]
		var code [2]float64
		copy(code[:], label)
		c, ok := coded[width].choices[code]
		if !ok {
			return nil, refused("value", "label %d in %s is %s: %s", i/width, name, strings.Trim(fmt.Sprint(label), "[]"), coded[width].means)
		}
		out = append(out, c)
	}
	return out, nil
}
