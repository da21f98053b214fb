package library_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"github.com/google/go-cmp/cmp"

	"tiebreak/internal/data/library"
	"tiebreak/internal/idrl"
)

// sample returns a library of a short policy, a long one, and one that differs from it in
// a stretch.
func sample() library.File {
	stream := rand.New(rand.NewPCG(1, 2))
	long := make([]float64, 2000)
	for i := range long {
		long[i] = stream.NormFloat64()
	}
	changed := slices.Clone(long)
	for i := 1500; i < 1550; i++ {
		changed[i] += 1
	}
	return library.File{Robot: "ant", Key: "k", Engine: "2.2.2", Behaviours: []library.Behaviour{
		{Name: "short", Params: []float64{2, 0.123456789, -1e-7 / 3, 111}, Mus: [][]float64{{1.23456789, 0}, {123456789, -3}}},
		{Name: "long", Params: long, Mus: [][]float64{{1, 2}}},
		{Name: "like it", Params: changed, Mus: [][]float64{{3, 4}}},
	}}
}

// TestRoundTrip: what is read is what Round makes of what was written, and is written
// alike again.
func TestRoundTrip(t *testing.T) {
	f := sample()
	b, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := library.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	want := sample()
	for i := range want.Behaviours {
		want.Behaviours[i].Params = library.Round(want.Behaviours[i].Params)
	}
	want.Behaviours[0].Mus = [][]float64{{1.2346, 0}, {123456789, -3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if short := got.Behaviours[0].Params; !slices.Equal(short, []float64{2, 0.12346, -3.3333e-08, 111}) {
		t.Errorf("numbers are rounded to %v", short)
	}
	again, err := got.Encode()
	if err != nil || string(again) != string(b) {
		t.Errorf("written again it differs; error %v", err)
	}
	lines := strings.Split(string(b), "\n")
	if len(lines[3]) > 500 || len(lines[2]) < 10_000 {
		t.Errorf("a change of 50 numbers takes %d bytes, all 2,000 take %d", len(lines[3]), len(lines[2]))
	}
}

func TestMu(t *testing.T) {
	b := library.Behaviour{Mus: [][]float64{{1, 2}, {3, -2}}}
	if mu := b.Mu(); !slices.Equal(mu, []float64{2, 0}) {
		t.Errorf("mean %v", mu)
	}
	if mu := (library.Behaviour{}).Mu(); mu != nil {
		t.Errorf("mean of nothing: %v", mu)
	}
}

func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                  "",
		"no JSON":                "library",
		"like a later one":       `{"behaviours":[{"like":1,"floats":""},{"params":[1]}]}`,
		"like a negative one":    `{"behaviours":[{"like":-1,"floats":""}]}`,
		"no base64":              `{"behaviours":[{"floats":"!"}]}`,
		"half a float":           `{"behaviours":[{"floats":"AAAA"}]}`,
		"beyond the end":         `{"behaviours":[{"params":[1]},{"like":0,"from":1,"floats":"AAAAAA=="}]}`,
		"far beyond the end":     `{"behaviours":[{"params":[1]},{"like":0,"from":9223372036854775807,"floats":"AAAAAA=="}]}`,
		"before the beginning":   `{"behaviours":[{"params":[1]},{"like":0,"from":-1,"floats":"AAAAAA=="}]}`,
		"a name that is no text": `{"behaviours":[{"name":3}]}`,
	} {
		if _, err := library.Decode([]byte(text)); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want one of kind Invalid", name, err)
		}
	}
	f := sample()
	f.Behaviours[0].Params[1] = math.NaN()
	if _, err := f.Encode(); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("NaN: error %v", err)
	}
}

func TestFind(t *testing.T) {
	b := must.Get(sample().Encode())(t)
	if f, err := library.Find(b, "ant", "k"); err != nil || len(f.Behaviours) != 3 {
		t.Errorf("%d behaviours, error %v", len(f.Behaviours), err)
	}
	for _, test := range [][2]string{{"ant", "other"}, {"hopper", "k"}} {
		_, err := library.Find(b, test[0], test[1])
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "tiebreak-lab library "+test[0]) {
			t.Errorf("%v: error %v, want one that says what to do", test, err)
		}
	}
}
