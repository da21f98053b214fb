package library

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"tiebreak/internal/idrl"
)

// A File is the library of a robot.
type File struct {
	Robot      string      // id of the environment
	Key        string      // of the model and the settings that it was made for
	Recipe     string      // key of the recipe by which it was made
	Engine     string      // version of the engine that it was made with
	Behaviours []Behaviour // in the order in which they are to be shown
}

// exactFrom is the number of parameters from which on they are written as 32-bit floats.
const exactFrom = 400

// digits are the significant digits of the numbers that are written as such.
const digits = 5

// Round returns numbers as a file keeps them, so that a behaviour does before it is
// written what it does when it is read.
func Round(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		if len(x) >= exactFrom {
			out[i] = float64(float32(v))
			continue
		}
		out[i] = shorter(v)
	}
	return out
}

// shorter returns v with five significant digits, whole numbers as they are.
func shorter(v float64) float64 {
	if v == math.Trunc(v) {
		return v
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return v
}

type file struct {
	Robot      string  `json:"robot"`
	Key        string  `json:"key"`
	Recipe     string  `json:"recipe"`
	Engine     string  `json:"engine"`
	Behaviours []entry `json:"behaviours"`
}

// An entry is a behaviour: its parameters as numbers, or 32-bit floats, little endian, in
// base64. Of those that differ from an earlier behaviour in one stretch alone, that is all.
type entry struct {
	Name   string      `json:"name"`
	Mus    [][]float64 `json:"mus"`
	Params []float64   `json:"params,omitempty"`
	Floats string      `json:"floats,omitempty"`
	Like   *int        `json:"like,omitempty"` // index of the earlier behaviour
	From   int         `json:"from,omitempty"` // where Floats takes the place of its numbers
}

// Encode returns the bytes of a file, a line for each behaviour. It returns an error of
// kind Invalid if a number is not finite.
func (f File) Encode() ([]byte, error) {
	head, err := json.Marshal(file{Robot: f.Robot, Key: f.Key, Recipe: f.Recipe, Engine: f.Engine, Behaviours: []entry{}})
	if err != nil {
		return nil, err
	}
	out := append(head[:len(head)-2], '\n')
	for k, b := range f.Behaviours {
		line, err := json.Marshal(f.entry(k))
		if err != nil {
			return nil, idrl.Errorf(idrl.Invalid, "behaviour %q cannot be written: %v", b.Name, err)
		}
		out = append(out, line...)
		if k < len(f.Behaviours)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "]}\n"...), nil
}

func (f File) entry(k int) entry {
	b := f.Behaviours[k]
	params, e := Round(b.Params), entry{Name: b.Name}
	for _, mu := range b.Mus {
		short := make([]float64, len(mu))
		for i, v := range mu {
			short[i] = shorter(v)
		}
		e.Mus = append(e.Mus, short)
	}
	if len(params) < exactFrom {
		e.Params = params
		return e
	}
	from, to := 0, len(params)
	for i, o := range f.Behaviours[:k] {
		if len(o.Params) != len(params) {
			continue
		}
		a, z := stretch(Round(o.Params), params)
		if z-a < to-from {
			from, to, e.Like, e.From = a, z, &i, a
		}
	}
	e.Floats = pack(params[from:to])
	return e
}

// stretch returns the shortest stretch outside which a and b, of one length, agree.
func stretch(a, b []float64) (from, to int) {
	to = len(a)
	for from < to && a[from] == b[from] {
		from++
	}
	for to > from && a[to-1] == b[to-1] {
		to--
	}
	return from, to
}

func pack(x []float64) string {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return base64.StdEncoding.EncodeToString(b)
}

func unpack(s string) ([]float64, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, err
	}
	if len(b)%4 != 0 {
		return nil, fmt.Errorf("%d bytes are no 32-bit floats", len(b))
	}
	out := make([]float64, len(b)/4)
	for i := range out {
		out[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return out, nil
}

// Decode returns the file with these bytes. It returns an error of kind Invalid if they
// are of no library. Whether a behaviour fits a robot it does not know (package
// behaviour).
func Decode(b []byte) (File, error) {
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return File{}, idrl.Errorf(idrl.Invalid, "this is no library of behaviours: %v", err)
	}
	out := File{Robot: f.Robot, Key: f.Key, Recipe: f.Recipe, Engine: f.Engine}
	for k, e := range f.Behaviours {
		params, err := e.params(out.Behaviours)
		if err != nil {
			return File{}, idrl.Errorf(idrl.Invalid, "behaviour %d of the library of %q cannot be read: %v", k+1, f.Robot, err)
		}
		out.Behaviours = append(out.Behaviours, Behaviour{Name: e.Name, Params: params, Mus: e.Mus})
	}
	return out, nil
}

func (e entry) params(before []Behaviour) ([]float64, error) {
	if e.Params != nil {
		return e.Params, nil
	}
	x, err := unpack(e.Floats)
	if err != nil || e.Like == nil {
		return x, err
	}
	if *e.Like < 0 || *e.Like >= len(before) {
		return nil, fmt.Errorf("it is like behaviour %d, of which there are %d before it", *e.Like, len(before))
	}
	out := slices.Clone(before[*e.Like].Params)
	if e.From < 0 || e.From > len(out)-len(x) {
		return nil, fmt.Errorf("it has %d numbers from %d on of %d", len(x), e.From, len(out))
	}
	copy(out[e.From:], x)
	return out, nil
}

// Find returns the file with these bytes if it was made for a robot with this id and key.
// Else it returns an error of kind Invalid that says what to do.
func Find(b []byte, robot, key string) (File, error) {
	f, err := Decode(b)
	switch {
	case err != nil:
		return File{}, err
	case f.Robot != robot || f.Key != key:
		return File{}, idrl.Errorf(idrl.Invalid, "the library of behaviours is of another model or other settings (%s, key %.8s) than %s (key %.8s): make it again with 'tiebreak-lab library %s'",
			f.Robot, f.Key, robot, key, robot)
	}
	return f, nil
}
