//go:build !cgo || (!linux && !darwin)

package engine_test

import (
	"errors"
	"strings"
	"testing"

	"tiebreak/envs/mujoco/engine"
	"tiebreak/internal/idrl"
)

func TestNothingLoadsWithoutTheEngine(t *testing.T) {
	err := engine.Check()
	for _, says := range []string{"needs MuJoCo", "without cgo", "C compiler"} {
		if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want one of kind Invalid that says %q", err, says)
		}
	}
	_, text := engine.Load([]byte("<mujoco/>"))
	_, file := engine.LoadFile("m.xml")
	for _, got := range []error{text, file} {
		if got.Error() != err.Error() || errors.Is(got, engine.ErrBroken) {
			t.Errorf("error %v, want %v", got, err)
		}
	}
}
