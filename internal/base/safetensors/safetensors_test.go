package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/safetensors"

	"github.com/google/go-cmp/cmp"
)

var example = []safetensors.Tensor{
	{Name: "w", Shape: []int{2, 3}, F32: []float32{1, -2.5, math.MaxFloat32, 0, math.SmallestNonzeroFloat32, 6}},
	{Name: "mean", Shape: []int{2}, F64: []float64{math.Pi, -1e300}},
	{Name: "one", Shape: []int{}, F32: []float32{7}},
	{Name: "none", Shape: []int{0, 4}, F32: []float32{}},
}

func write(t testing.TB, ts []safetensors.Tensor, metadata map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, safetensors.Write(&b, ts, metadata))
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, metadata := range []map[string]string{nil, {"format": "x", "ü": "\"\n"}} {
		b := write(t, example, metadata)
		if n := binary.LittleEndian.Uint64(b); n%8 != 0 {
			t.Errorf("numbers begin after a header of %d bytes, not aligned", n)
		}
		ts, m, err := safetensors.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(example[:3], ts[:3]) + cmp.Diff(metadata, m); diff != "" || len(ts) != 4 {
			t.Errorf("%d tensors (-want +got):\n%s", len(ts), diff)
		}
		if again := write(t, ts, m); !bytes.Equal(again, b) {
			t.Error("what was read is written as other bytes")
		}
	}
}

// The bytes are those of the reference implementation (safetensors 0.8.0 for Python):
// save({"a": numpy.array([[1, 2]], dtype="float32")}).
func TestBytes(t *testing.T) {
	header := `{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}`
	want := "\x38\x00\x00\x00\x00\x00\x00\x00" + header + "\x00\x00\x80\x3f\x00\x00\x00\x40"
	if got := write(t, []safetensors.Tensor{{Name: "a", Shape: []int{1, 2}, F32: []float32{1, 2}}}, nil); string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := safetensors.Tensor{Name: "a", Shape: []int{1}, F32: []float32{1}}
	for name, ts := range map[string][]safetensors.Tensor{
		"a name twice":   {one, one},
		"no name":        {{Shape: []int{1}, F32: []float32{1}}},
		"reserved name":  {{Name: "__metadata__", Shape: []int{1}, F32: []float32{1}}},
		"another shape":  {{Name: "a", Shape: []int{2}, F32: []float32{1}}},
		"negative shape": {{Name: "a", Shape: []int{-1, -1}, F32: []float32{1}}},
		"two types":      {{Name: "a", Shape: []int{2}, F32: []float32{1}, F64: []float64{1}}},
	} {
		if err := safetensors.Write(new(bytes.Buffer), ts, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// file returns the bytes of a header and some bytes after it.
func file(header string, data int) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), make([]byte, data)...)
}

func TestReadRefuses(t *testing.T) {
	for _, test := range []struct {
		name string
		b    []byte
		says string
	}{
		{"empty", nil, "0 bytes"},
		{"cut", write(t, example, nil)[:40], "header of"},
		{"numbers cut", write(t, example, nil)[:len(write(t, example, nil))-1], "bytes"},
		{"longer", append(write(t, example, nil), 0), "belong to no tensor"},
		{"a header that is too long", binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "header of"},
		{"not JSON", file("{]", 0), "header"},
		{"a list", file("[]", 0), "begin with {"},
		{"another type", file(`{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`, 8), "type \"I64\""},
		{"a shape that overflows", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), "of shape"},
		{"a negative shape", file(`{"a":{"dtype":"F32","shape":[-1,-1],"data_offsets":[0,4]}}`, 4), "of shape"},
		{"a gap", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}`, 8), "bytes 4 to 8"},
		{"an overlap", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4), "bytes 0 to 4"},
		{"backwards", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,-4]}}`, 4), "bytes 0 to -4"},
		{"metadata that are no text", file(`{"__metadata__":{"a":1}}`, 0), "metadata"},
		{"half a pair of offsets", file(`{"a":{"dtype":"F32","shape":[1],"data_offsets":"x"}}`, 4), "tensor \"a\""},
	} {
		if _, _, err := safetensors.Read(test.b); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: error %v, want one that says %q", test.name, err, test.says)
		}
	}
}

// FuzzRead: what is read is written and read as the same, or is refused.
func FuzzRead(f *testing.F) {
	f.Add(write(f, example, map[string]string{"a": "b"}))
	f.Add(write(f, nil, nil))
	f.Add(file(`{"a":{"dtype":"F64","shape":[],"data_offsets":[0,8]}}`, 8))
	f.Fuzz(func(t *testing.T, b []byte) {
		ts, metadata, err := safetensors.Read(b)
		if err != nil {
			return
		}
		first := write(t, ts, metadata)
		ts, metadata, err = safetensors.Read(first)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if !bytes.Equal(first, write(t, ts, metadata)) {
			t.Error("read and written again gives other bytes")
		}
	})
}

func ExampleWrite() {
	var b bytes.Buffer
	err := safetensors.Write(&b, []safetensors.Tensor{{Name: "weight", Shape: []int{1, 2}, F32: []float32{1, 2}}}, nil)
	if err != nil {
		fmt.Println(err)
	}
	ts, _, err := safetensors.Read(b.Bytes())
	fmt.Println(ts[0].Name, ts[0].Shape, ts[0].F32, err)
	// Output: weight [1 2] [1 2] <nil>
}
