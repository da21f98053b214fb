package numpy_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/data/numpy"
)

// What testdata/make.py wrote.
var (
	ints = []float64{0, 1, -1, 1, 0, 200, 70000, -70000, 3000000000}
	soft = []float64{1, 0, 0, 1, 0.5, 0.5}
	row3 = []float64{0, 1, -1}
)

func pickled(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/pickles", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Arrays and lists are read as both generations of NumPy write them, by every protocol.
func TestRead(t *testing.T) {
	for _, version := range []int{1, 2} {
		files := map[string][]float64{
			fmt.Sprintf("numpy%d-ints.npy", version): ints,
			fmt.Sprintf("numpy%d-soft.npy", version): soft,
		}
		for protocol := 2; protocol <= 5; protocol++ {
			for name, want := range map[string][]float64{"ints": ints, "soft": soft, "column": row3, "scalars": ints, "list": ints, "rows": row3} {
				files[fmt.Sprintf("numpy%d-%d-%s.pkl", version, protocol, name)] = want
			}
		}
		for name, want := range files {
			a, err := numpy.Read(pickled(t, name), 1000)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			shape := []int{len(want)}
			switch {
			case strings.Contains(name, "soft"):
				shape = []int{3, 2}
			case strings.Contains(name, "column"), strings.Contains(name, "rows"):
				shape = []int{3, 1}
			}
			if !slices.Equal(a.Numbers, want) || !slices.Equal(a.Shape, shape) {
				t.Errorf("%s: %v %v, want %v %v", name, a.Shape, a.Numbers, shape, want)
			}
		}
	}
}

// A pickle that holds anything else is refused, and nothing that it asks for is done.
func TestReadRefuses(t *testing.T) {
	for name, says := range map[string]string{
		"evil": `"posix.system"`, "evil-list": `"posix.system"`, "object": "type", "text": "type", "dict": "not executed", "none": "no array", "number": "no array",
		"nan": "number 1 is NaN", "infinite": "number 1 is +Inf", "ragged": "item 1", "mixed": "item 1", "words": "item 0", "fortran": "Fortran", "record": "type", "huge": "64 bits",
		"protocol0": "protocol 2 to 5",
	} {
		_, err := numpy.Read(pickled(t, "bad-"+name+".pkl"), 1000)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", name, err, says)
		}
	}
	for _, name := range []string{"numpy2-4-ints.pkl", "numpy1-2-soft.pkl", "numpy2-5-ints.pkl", "numpy1-4-scalars.pkl", "numpy1-ints.npy"} {
		whole := pickled(t, name)
		if _, err := numpy.Read(whole, 5); err == nil {
			t.Errorf("%s is read, with more numbers than may be", name)
		}
		if _, err := numpy.Read(append(bytes.Clone(whole), 0), 1000); err == nil {
			t.Errorf("%s is read, with a byte after its end", name)
		}
		for n := range whole {
			if _, err := numpy.Read(whole[:n], 1000); err == nil {
				t.Errorf("%s is read, cut after %d bytes", name, n)
			}
		}
	}
}

// pumped is a pickle of protocol 2 that encodes one text again and again, in a list, at five bytes a call.
func pumped(text, calls int) []byte {
	b := []byte("\x80\x02](c_codecs\nencode\nq\x00X")
	b = binary.LittleEndian.AppendUint32(b, uint32(text))
	b = append(b, strings.Repeat("a", text)...)
	b = append(b, "X\x06\x00\x00\x00latin1\x86q\x01R"...)
	b = append(b, strings.Repeat("h\x00h\x01R", calls)...)
	return append(b, "e."...)
}

// Memory is taken for what a pickle holds, whatever it asks for.
func TestReadTakesLittleMemory(t *testing.T) {
	b := pumped(1000, 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := numpy.Read(b, 1000)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 50*uint64(len(b)) { // half the calls are 500 kB
		t.Errorf("%d bytes take %d bytes of memory, %v", len(b), took, err)
	}
}

// More numbers than may be are told from what is damaged.
func TestTooMany(t *testing.T) {
	for _, name := range []string{"numpy2-ints.npy", "numpy2-4-ints.pkl", "numpy2-4-soft.pkl", "numpy2-4-list.pkl", "numpy2-4-rows.pkl"} {
		if _, err := numpy.Read(pickled(t, name), 2); !errors.Is(err, numpy.ErrMany) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Any bytes are refused, or are an array of finite numbers within the limit.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/pickles/*")
	if err != nil || len(files) < 60 {
		f.Fatal(len(files), err)
	}
	for _, name := range files {
		f.Add(pickled(f, filepath.Base(name)))
	}
	f.Add([]byte("\x80\x04]\x94(h\x00h\x00e."))                              // a list in itself
	f.Add([]byte("\x80\x02\x96\xff\xff\xff\xff\xff\xff\xff\xff."))           // bytes without end
	f.Add([]byte("\x80\x02]q\x00(K\x01K\x02e]q\x01(h\x00h\x00h\x00h\x00e.")) // shared lists
	f.Add(pumped(100, 100))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := numpy.Read(b, 1000)
		if err != nil {
			return
		}
		n := 1
		for _, k := range a.Shape {
			n *= k
		}
		if n != len(a.Numbers) || n > 1000 {
			t.Fatalf("shape %v, %d numbers", a.Shape, len(a.Numbers))
		}
		for _, x := range a.Numbers {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Fatal(x)
			}
		}
	})
}
