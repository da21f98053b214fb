//go:build !cgo || (!linux && !darwin)

package mujoco_test

import (
	"strings"
	"testing"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/idrl"
)

func TestCustomWithoutEngine(t *testing.T) {
	_, err := mujoco.LoadCustom("../../docs/models/cart/cart.json")
	if idrl.KindOf(err) != idrl.Invalid || !strings.Contains(err.Error(), "needs MuJoCo") {
		t.Errorf("error is %v, want one that says what to install", err)
	}
}
