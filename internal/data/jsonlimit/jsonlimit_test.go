package jsonlimit

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Each array is held to the limit of its depth, and a text within them is passed on.
func TestReader(t *testing.T) {
	limits := Limits{{}, {Name: "rows", Most: 3}, {Name: "numbers", Most: 2}, {}, {Name: "shapes", Least: 8}}
	for _, test := range []struct{ text, want string }{
		{`{"a":[1,2,3]}`, ""},
		{`{"a":[1,2,3,4]}`, "there are more than 3 rows"},
		{`{"a":[1,2,3,]}`, "more than 3 rows"}, // it is no JSON either
		{`{"a":[1,2,3],"b":[1,2,3]}`, ""},
		{`{"a":[[1,2],[1,2],[]]}`, ""},
		{`{"a":[[1,2],[1,2,3]]}`, "more than 2 numbers"},
		{`{"a":[{"x":1,"y":2,"z":3,"w":4}]}`, ""}, // no arrays
		{`{"a":[{"x":[1,2,3,4,5]}]}`, ""},         // no limit at depth 3
		{`{"a":["[,[,[,","\",,,,","\\"]}`, ""},
		{`{"a":["\\",1,2,3]}`, "more than 3 rows"},
		{`{"a":[{"b":[["12345678","12345678"],["12345678"]]}]}`, ""},
		{`{"a":[{"b":[[0,0,0,0,0]]}]}`, "more than 3 shapes in 19 bytes; each takes 8 or more"},
		{`{"a":[{"b":[[0,0],[0,0],[0,0],[0,0],[0,0]]}]}`, "shapes in"}, // counted together
		{`[1,2,3,4,5]`, ""},
		{`]]],,,}{"a":[1,2,3,4]}`, "more than 3 rows"},
		{strings.Repeat("[", 100) + "1,2,3,4,5" + strings.Repeat("]", 100), ""},
		{``, ""},
	} {
		for name, from := range map[string]io.Reader{"at once": strings.NewReader(test.text), "by bytes": iotest.OneByteReader(strings.NewReader(test.text))} {
			got, err := io.ReadAll(NewReader(from, limits))
			over := (*Error)(nil)
			if test.want == "" && (err != nil || string(got) != test.text) {
				t.Errorf("%s, %s: %q, %v", test.text, name, got, err)
			}
			if test.want != "" && (!errors.As(err, &over) || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(test.text, string(got))) {
				t.Errorf("%s, %s: %q, %v, want %q", test.text, name, got, err, test.want)
			}
		}
	}
}

// An error remains, and that of what is read is passed on.
func TestReaderErrors(t *testing.T) {
	r := NewReader(strings.NewReader(`[1,2,3,4]`), Limits{{Name: "numbers", Most: 2}})
	_, first := io.ReadAll(r)
	if n, err := r.Read(make([]byte, 8)); n != 0 || err == nil || !errors.Is(err, first) {
		t.Errorf("%d bytes, %v after %v", n, err, first)
	}
	broken := errors.New("broken")
	if _, err := io.ReadAll(NewReader(iotest.ErrReader(broken), nil)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// longest returns the most elements of an array at a depth of a decoded value.
func longest(v any, depth int) (most int) {
	switch v := v.(type) {
	case []any:
		if depth == 0 {
			return len(v)
		}
		for _, e := range v {
			most = max(most, longest(e, depth-1))
		}
	case map[string]any:
		for _, e := range v {
			if depth > 0 {
				most = max(most, longest(e, depth-1))
			}
		}
	}
	return most
}

// FuzzReader: what a decoder makes of a text that was passed on is within the limits, and is what
// it makes of the text itself.
func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,3,4]}`, `[[[1,2,3]],[[]]]`, `["\\",",\"[",{}]`, `[{"a":[{"b":[null]}]}]`, `{"a":["\u005b"`, `[1],2`} {
		f.Add([]byte(s))
	}
	limits := Limits{{Name: "a", Most: 4}, {Name: "b", Most: 3}, {Name: "c", Most: 2, Least: 3}}
	f.Fuzz(func(t *testing.T, b []byte) {
		var v, plain any
		err := json.NewDecoder(NewReader(bytes.NewReader(b), limits)).Decode(&v)
		if over := (*Error)(nil); errors.As(err, &over) {
			return
		}
		for depth, l := range limits {
			if n := longest(v, depth); n > l.Most {
				t.Errorf("%d elements at depth %d", n, depth)
			}
		}
		if plainErr := json.NewDecoder(bytes.NewReader(b)).Decode(&plain); (err == nil) != (plainErr == nil) {
			t.Errorf("%v, without limits %v", err, plainErr)
		}
	})
}
