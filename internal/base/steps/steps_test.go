package steps_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/idrl"

	"github.com/google/go-cmp/cmp"
)

// walk is an episode of n steps with two observations, one action and three features.
func walk(n int) *idrl.Trajectory {
	stream := rng.New(3, "walk", uint64(n))
	t := &idrl.Trajectory{End: idrl.Terminated, Obs: [][]float64{{0, 1}}}
	for k := range n {
		t.Actions = append(t.Actions, idrl.Action{stream.Float64()})
		t.Obs = append(t.Obs, []float64{float64(k) / 3, math.Sin(float64(k))})
		t.Phi = append(t.Phi, []float64{1, stream.NormFloat64(), 0})
	}
	return t
}

var meta = idrl.Steps{Env: "own-arm@1f", Version: 2, Seed: math.MaxUint64, Episode: 7}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{1, 2, 300} {
		tr := walk(n)
		want := steps.Of(tr, meta)
		id, b, err := steps.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := steps.Decode(id, b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d steps (-want +got):\n%s", n, diff)
		}
		for i, row := range tr.Phi { // features are exact; observations have single precision
			if diff := cmp.Diff(row, got.Phi[i]); diff != "" || got.Obs[i][1] != float32(tr.Obs[i][1]) {
				t.Fatalf("row %d: %s", i, diff)
			}
		}
		again, bytesAgain, err := steps.Encode(got)
		if err != nil || again != id || !bytes.Equal(bytesAgain, b) {
			t.Errorf("%d steps: encoded again as %s, %v", n, again, err)
		}
		other := want
		other.Episode++
		if name, _, _ := steps.Encode(other); name == id {
			t.Error("another episode has the same name")
		}
	}
}

func TestConstantColumnsCostLittle(t *testing.T) {
	tr := walk(1000)
	for i := range tr.Phi {
		tr.Phi[i], tr.Actions[i] = []float64{1, 0, -2.5}, idrl.Action{1}
	}
	for i := range tr.Obs {
		tr.Obs[i] = []float64{4, 4}
	}
	_, b, err := steps.Encode(steps.Of(tr, meta))
	if err != nil || len(b) > 300 {
		t.Errorf("%d bytes for %d numbers that never change, %v", len(b), 6000, err)
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*idrl.Steps){
		"nothing":                func(s *idrl.Steps) { *s = idrl.Steps{} },
		"no last observation":    func(s *idrl.Steps) { s.Obs = s.Obs[:3] },
		"features missing":       func(s *idrl.Steps) { s.Phi = s.Phi[:1] },
		"rows of two lengths":    func(s *idrl.Steps) { s.Actions[1] = []float32{1, 2} },
		"a row that is too long": func(s *idrl.Steps) { s.Obs[0] = make([]float32, 1<<13) },
	} {
		s := steps.Of(walk(3), meta)
		spoil(&s)
		if _, _, err := steps.Encode(s); idrl.KindOf(err) != idrl.Invalid {
			t.Errorf("%s: error %v, want kind Invalid", name, err)
		}
	}
}

func TestDamage(t *testing.T) {
	id, b, err := steps.Encode(steps.Of(walk(20), meta))
	if err != nil {
		t.Fatal(err)
	}
	for k := range b {
		bad := bytes.Clone(b)
		bad[k] ^= 0x40
		if s, err := steps.Decode(id, bad); err == nil && !cmp.Equal(s, steps.Of(walk(20), meta)) {
			t.Errorf("byte %d changed: other steps, no error", k)
		} else if err != nil && idrl.KindOf(err) != idrl.Damaged {
			t.Errorf("byte %d changed: %v, want kind Damaged", k, err)
		}
	}
	for _, bad := range [][]byte{nil, b[:len(b)-1], b[:len(b)/2]} {
		if _, err := steps.Decode(id, bad); idrl.KindOf(err) != idrl.Damaged {
			t.Errorf("%d bytes of %d: %v, want kind Damaged", len(bad), len(b), err)
		}
	}
	if _, err := steps.Decode("other", b); idrl.KindOf(err) != idrl.Damaged {
		t.Errorf("steps of another name: %v", err)
	}
}

// FuzzDecode: content that has the right name, whatever it is, gives steps that encode
// to the same content, or an error.
func FuzzDecode(f *testing.F) {
	for _, n := range []int{1, 5} {
		s := steps.Of(walk(n), meta)
		content := must.Get(steps.Content(s))(f)
		f.Add(content)
	}
	f.Add([]byte("TBS1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		id, b := steps.Compress(content)
		s, err := steps.Decode(id, b)
		if err != nil {
			if idrl.KindOf(err) != idrl.Damaged {
				t.Errorf("error %v, want kind Damaged", err)
			}
			return
		}
		again, err := steps.Content(s)
		if err != nil {
			return // such as no steps at all
		}
		if _, err := steps.Decode(steps.Compress(again)); err != nil {
			t.Errorf("what was decoded cannot be decoded again: %v", err)
		}
	})
}

func ExampleEncode() {
	t := &idrl.Trajectory{
		Obs: [][]float64{{0}, {0.5}, {1}}, Actions: []idrl.Action{{1}, {1}}, Phi: [][]float64{{0.25}, {1}}, End: idrl.Truncated,
	}
	id, b, err := steps.Encode(steps.Of(t, idrl.Steps{Env: "track", Seed: 1}))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := steps.Decode(id, b)
	fmt.Println(s.Env, s.Len(), s.Obs, s.Phi, err)
	// Output: track 2 [[0] [0.5] [1]] [[0.25] [1]] <nil>
}
