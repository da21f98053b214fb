package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A Tensor is a named array of numbers of one type.
type Tensor struct {
	Name  string
	Shape []int     // each 0 or more; empty for one number
	F32   []float32 // by rows; nil if the numbers are F64
	F64   []float64 // by rows; nil if they are F32
}

// Limits of what Read takes, far above what the program writes.
const (
	MaxSize   = 64 << 20 // bytes
	maxHeader = 1 << 20  // bytes
	maxDims   = 8
)

const (
	metadataKey = "__metadata__"
	typeF32     = "F32"
	typeF64     = "F64"
)

// entry is what the header says of a tensor.
type entry struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"` // first byte, and the one after the last
}

// Write writes tensors, in their order, and metadata, which may be nil. The same
// arguments give the same bytes. It returns an error if a name is empty, reserved or used
// twice, or a shape does not fit its numbers, and those of w.
func Write(w io.Writer, ts []Tensor, metadata map[string]string) error {
	header := map[string]any{}
	if metadata != nil {
		header[metadataKey] = metadata
	}
	var data []byte
	for _, t := range ts {
		if _, twice := header[t.Name]; twice || t.Name == "" || t.Name == metadataKey {
			return fmt.Errorf("safetensors: %q cannot be the name of a tensor here", t.Name)
		}
		e := entry{Type: typeF32, Shape: t.Shape, Offsets: [2]int{len(data)}}
		if e.Shape == nil {
			e.Shape = []int{}
		}
		if n, ok := count(e.Shape); !ok || n != len(t.F32)+len(t.F64) || t.F32 != nil && t.F64 != nil {
			return fmt.Errorf("safetensors: tensor %q of shape %v has %d numbers", t.Name, t.Shape, len(t.F32)+len(t.F64))
		}
		for _, v := range t.F32 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		if t.F64 != nil {
			e.Type = typeF64
		}
		for _, v := range t.F64 {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		e.Offsets[1] = len(data)
		header[t.Name] = e
	}
	text, err := json.Marshal(header)
	if err != nil {
		return fmt.Errorf("safetensors: header: %w", err)
	}
	text = append(text, strings.Repeat(" ", (8-len(text)%8)%8)...) // so that the numbers are aligned
	_, err = w.Write(slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data))
	return err
}

// Read returns the tensors that b holds, in the order of their numbers, and the metadata,
// nil if there are none. It returns an error if b is not in the format, has another type of
// numbers than F32 and F64, or is larger than MaxSize.
func Read(b []byte) (ts []Tensor, metadata map[string]string, err error) {
	header, data, err := split(b)
	if err != nil {
		return nil, nil, err
	}
	for name, raw := range header {
		if name == metadataKey {
			err = json.Unmarshal(raw, &metadata)
		} else {
			ts = append(ts, Tensor{Name: name})
		}
		if err != nil {
			return nil, nil, fmt.Errorf("safetensors: metadata: %w", err)
		}
	}
	entries := make(map[string]entry, len(ts))
	for _, t := range ts {
		var e entry
		if err := json.Unmarshal(header[t.Name], &e); err != nil {
			return nil, nil, fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
		entries[t.Name] = e
	}
	slices.SortFunc(ts, func(a, b Tensor) int {
		x, y := entries[a.Name].Offsets, entries[b.Name].Offsets
		return slices.Compare(append(x[:], strings.Compare(a.Name, b.Name)), append(y[:], 0))
	})
	from := 0
	for i := range ts {
		e := entries[ts[i].Name]
		if e.Offsets[0] != from || e.Offsets[1] < from || e.Offsets[1] > len(data) {
			return nil, nil, fmt.Errorf("safetensors: tensor %q has the bytes %d to %d, after %d of %d", ts[i].Name, e.Offsets[0], e.Offsets[1], from, len(data))
		}
		if err := ts[i].decode(e, data[from:e.Offsets[1]]); err != nil {
			return nil, nil, err
		}
		from = e.Offsets[1]
	}
	if from != len(data) {
		return nil, nil, fmt.Errorf("safetensors: %d bytes belong to no tensor", len(data)-from)
	}
	return ts, metadata, nil
}

// split returns the header of b, by names, and the bytes after it.
func split(b []byte) (header map[string]json.RawMessage, data []byte, err error) {
	if len(b) < 8 || len(b) > MaxSize {
		return nil, nil, fmt.Errorf("safetensors: %d bytes; a file has 8 to %d", len(b), MaxSize)
	}
	n := binary.LittleEndian.Uint64(b)
	if n > maxHeader || n > uint64(len(b)-8) {
		return nil, nil, fmt.Errorf("safetensors: a header of %d bytes in a file of %d", n, len(b))
	}
	text, data := b[8:8+n], b[8+n:]
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil, nil, fmt.Errorf("safetensors: the header does not begin with {")
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return nil, nil, fmt.Errorf("safetensors: header: %w", err)
	}
	return header, data, nil
}

// decode reads the numbers of t.
func (t *Tensor) decode(e entry, data []byte) error {
	size := map[string]int{typeF32: 4, typeF64: 8}[e.Type]
	if size == 0 {
		return fmt.Errorf("safetensors: tensor %q has numbers of type %q; known: %s, %s", t.Name, e.Type, typeF32, typeF64)
	}
	n, ok := count(e.Shape)
	if !ok || n*size != len(data) {
		return fmt.Errorf("safetensors: tensor %q of shape %v and type %s has %d bytes", t.Name, e.Shape, e.Type, len(data))
	}
	t.Shape = e.Shape
	if e.Type == typeF32 {
		t.F32 = make([]float32, n)
		for i := range t.F32 {
			t.F32[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return nil
	}
	t.F64 = make([]float64, n)
	for i := range t.F64 {
		t.F64[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
	}
	return nil
}

// count returns how many numbers a shape has; ok is false if no file can have them.
func count(shape []int) (n int, ok bool) {
	n = 1
	for _, s := range shape {
		if s < 0 || s > MaxSize || len(shape) > maxDims {
			return 0, false
		}
		if n *= s; n > MaxSize {
			return 0, false
		}
	}
	return n, true
}
