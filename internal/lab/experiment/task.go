package experiment

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"tiebreak/internal/idrl"
)

// A Task is an experiment of a user's own, read from a file: features of states
// or clips, candidate policies as feature expectations, and candidate queries.
type Task struct {
	Title    string      `json:"title"`
	Features []string    `json:"features"` // names, length d
	Items    []TaskItem  `json:"items"`    // states or clips
	Policies []TaskItem  `json:"policies"` // feature expectations; at least two
	Queries  []TaskQuery `json:"queries"`
	Prior    TaskPrior   `json:"prior"`
	Answers  TaskAnswers `json:"answers"`
	Budget   int         `json:"budget"`       // answers of a run; default 50
	Truth    []float64   `json:"true_weights"` // length d; absent: a draw from the prior for every seed

	index map[string]int // of the item of an id
	sum   string         // of the file, for names of results
	text  []byte         // of the file
}

// Text returns the text of the file that the task was read from: what ReadTask reads. It is not to be
// changed.
func (t *Task) Text() []byte { return t.text }

// A TaskItem is a named vector.
type TaskItem struct {
	ID       string    `json:"id"`
	Features []float64 `json:"features"`
}

// A TaskQuery is one candidate question. Exactly one of its forms is given.
type TaskQuery struct {
	Rate    string             `json:"rate"`    // the reward of an item
	Compare []string           `json:"compare"` // two items: which one is better
	Weights map[string]float64 `json:"weights"` // a number: the weighted sum of items' rewards (the paper, Definition 1)
}

// A TaskPrior is N(0, covariance), or independent weights of one variance.
type TaskPrior struct {
	Variance   float64     `json:"variance"`   // default 1; not looked at if there is a covariance
	Covariance [][]float64 `json:"covariance"` // d×d
}

// TaskAnswers says how noisy the simulated expert is. The belief knows it.
type TaskAnswers struct {
	NoiseStd float64 `json:"noise_std"` // of numbers; default 0.1
	Beta     float64 `json:"beta"`      // rationality of comparisons (Bradley–Terry), per unit of reward; default 3
}

// slug returns what a folder's name says of the title, ending in a dash; empty if
// nothing is left of it.
func (t *Task) slug() string {
	words := strings.FieldsFunc(strings.ToLower(t.Title), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
	s := strings.Join(words, "-")
	if s = strings.Trim(s[:min(len(s), maxSlug)], "-"); s == "" {
		return ""
	}
	return s + "-"
}

const maxSlug = 40 // bytes

// maxTaskBytes is the largest size of a task file.
const maxTaskBytes = 64 << 20

// ReadTask reads a task. Its errors are of kind Invalid and say what to change.
func ReadTask(r io.Reader) (*Task, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxTaskBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the task: %w", err)
	}
	if len(b) > maxTaskBytes {
		return nil, idrl.Errorf(idrl.Invalid, "the task file has more than %d MB", maxTaskBytes>>20)
	}
	t := &Task{
		Budget: 50, Prior: TaskPrior{Variance: 1}, Answers: TaskAnswers{NoiseStd: 0.1, Beta: 3},
		sum: fmt.Sprintf("%x", sha256.Sum256(b))[:16], text: b,
	}
	if err := decodeStrict(b, t); err != nil {
		return nil, err
	}
	t.Title = cmp.Or(t.Title, "Task")
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// decodeStrict decodes JSON and refuses fields that are not known and anything
// after the value.
func decodeStrict(b []byte, dst any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err := dec.Decode(dst)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return idrl.Errorf(idrl.Invalid, "the task is not JSON: %s: %v", position(b, syntax.Offset), syntax)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return idrl.Errorf(idrl.Invalid, "the task is not JSON: %s: it ends too early", position(b, int64(len(b))))
	case errors.As(err, &kind):
		return idrl.Errorf(idrl.Invalid, "task: %s: %q must be %s, not %s",
			position(b, kind.Offset), cmp.Or(kind.Field, "the whole"), wanted(kind.Type), found(kind.Value))
	case err != nil:
		return idrl.Errorf(idrl.Invalid, "the task cannot be read: %v", err)
	}
	if rest := bytes.TrimLeft(b[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return idrl.Errorf(idrl.Invalid, "the task file continues after the closing brace: %s", position(b, int64(len(b)-len(rest)+1)))
	}
	return nil
}

// position names the last of the first n bytes by line and column, both from 1.
func position(b []byte, n int64) string {
	head := b[:max(0, min(int(n), len(b))-1)]
	return fmt.Sprintf("line %d, column %d", 1+bytes.Count(head, []byte{'\n'}), len(head)-bytes.LastIndexByte(head, '\n'))
}

// wanted names a type for people.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return fmt.Sprintf("a number within ±%g", maxNumber)
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// found names what JSON holds, with an article where it is a kind of value.
func found(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	default:
		return value // "number 1e999"
	}
}
