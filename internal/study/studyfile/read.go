package studyfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"

	"go.yaml.in/yaml/v3"
)

// A File is a study file that was read.
type File struct {
	Spec  idrl.SessionSpec // settings that the file leaves out are those of settings.Defaults
	name  string
	lines map[string]int // by key, of those that the file has
	keys  []string       // in the order of the file
}

// MaxFile is the most bytes that a study file has.
const MaxFile = 256 << 10

// Read reads a study file, which is called name in errors. It returns an error of kind
// Invalid that says in which lines what is wrong: a key that is unknown or comes twice, a
// value of the wrong type, a budget of 0.
func Read(name string, content []byte) (*File, error) {
	f := &File{Spec: settings.Defaults(), name: name, lines: map[string]int{}}
	if len(content) > MaxFile {
		return nil, idrl.Errorf(idrl.Invalid, "%s has %d bytes; a study file has at most %d", name, len(content), MaxFile)
	}
	root, err := f.parse(content)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return f, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, f.wrong(root.Line, "a study file is a list of settings, one 'key: value' on each line")
	}
	var errs []error
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := f.take(root.Content[i], root.Content[i+1]); err != nil {
			errs = append(errs, err)
		}
	}
	return f, join(errs)
}

// parse returns the only document of a file, nil if that is empty.
func (f *File) parse(content []byte) (*yaml.Node, error) {
	d := yaml.NewDecoder(bytes.NewReader(content))
	var doc, more yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil: // "yaml: line 3: …"
		return nil, idrl.Errorf(idrl.Invalid, "%s: %s", f.name, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, f.wrong(cmp.Or(more.Line, 1), "a study file has one document, without '---' between settings")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return doc.Content[0], nil
}

// take takes in one setting.
func (f *File) take(key, value *yaml.Node) error {
	line, known := f.lines[key.Value]
	setting, ok := settings.Find(key.Value)
	switch {
	case !ok:
		return f.wrong(key.Line, "unknown key %q%s", key.Value, like(key.Value))
	case known:
		return f.wrong(key.Line, "%s was already set in line %d", key.Value, line)
	}
	f.lines[key.Value], f.keys = key.Line, append(f.keys, key.Value)
	err := decode(setting, value, &f.Spec)
	if err == nil {
		return nil
	}
	at := cmp.Or(value.Line, key.Line)
	if in := (lineError{}); errors.As(err, &in) {
		at = in.line
	}
	return f.wrong(at, "%s %s", key.Value, err)
}

// like proposes a known key that is spelt like key, as the rest of an error.
func like(key string) string {
	var keys []string
	for _, s := range settings.All() {
		keys = append(keys, s.Key)
	}
	if best := Nearest(strings.ReplaceAll(key, "-", "_"), keys); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return "; docs/study.md lists the keys"
}

// Nearest returns the first of words with the smallest Levenshtein distance from word, if that is at most 2 bytes; else the empty
// string.
func Nearest(word string, words []string) (best string) {
	least := 3
	for _, w := range words {
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance returns the Levenshtein distance: the fewest bytes to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// decode sets s in a spec to the value of a node. Its error goes on from the key.
func decode(s settings.Setting, n *yaml.Node, spec *idrl.SessionSpec) error {
	is := s.Type()
	switch {
	case is == settings.Shares:
		return decodeControls(n, &spec.Controls)
	case n.Kind != yaml.ScalarNode:
		return fmt.Errorf("must be %s", kind(s))
	case is == settings.Word && n.Tag != "!!str":
		return fmt.Errorf("must be text; put it in quotes: %q", n.Value)
	case is == settings.Word || s.ZeroWord != "" && n.Value == s.ZeroWord:
		return s.Set(spec, n.Value)
	case n.Tag != tags[is] && (is != settings.Number || n.Tag != "!!int") || n.Decode(s.At(spec)) != nil:
		return fmt.Errorf("must be %s; got %q", kind(s), n.Value)
	}
	v, isFloat := s.At(spec).(*float64)
	switch {
	case isFloat && (math.IsNaN(*v) || math.IsInf(*v, 0)):
		return errors.New("must be a finite number")
	case s.ZeroWord != "" && s.IsZero(*spec):
		return fmt.Errorf("is 0; write how many, or %s", s.ZeroWord)
	}
	return s.Given(*spec)
}

// wrong returns an error of kind Invalid about a line.
func (f *File) wrong(line int, format string, args ...any) error {
	return idrl.Errorf(idrl.Invalid, "%s:%s: %s", f.name, strconv.Itoa(line), fmt.Sprintf(format, args...))
}

// join makes one error of those that were found, a line each.
func join(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return idrl.Errorf(idrl.Invalid, "%s", strings.Join(texts, "\n"))
}

// Check returns an error of kind Invalid that says in which line what is wrong, if check,
// such as settings.Check, finds something wrong with the settings. The line is
// that of the last setting without which nothing is wrong, or else something else.
func (f *File) Check(check func(idrl.SessionSpec) error) error {
	err := check(f.Spec)
	if err == nil || idrl.KindOf(err) != idrl.Invalid {
		return err
	}
	other := ""
	for _, key := range slices.Backward(f.keys) {
		switch without := check(f.without(key)); {
		case without == nil:
			return f.about(key, err)
		case without.Error() != err.Error() && other == "":
			other = key
		}
	}
	if other != "" {
		return f.about(other, err)
	}
	return idrl.Errorf(idrl.Invalid, "%s: %s", f.name, err)
}

// about returns err as one about the line of a key.
func (f *File) about(key string, err error) error {
	text := strings.TrimPrefix(err.Error(), key+": ")
	if !strings.HasPrefix(text, key+" ") {
		text = key + ": " + text
	}
	return f.wrong(f.lines[key], "%s", text)
}

// without returns the settings with the default of a key.
func (f *File) without(key string) idrl.SessionSpec {
	spec := f.Spec
	settings.Get(key).Copy(&spec, settings.Defaults())
	return spec
}
