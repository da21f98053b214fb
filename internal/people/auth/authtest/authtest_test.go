package authtest_test

import (
	"testing"

	"tiebreak/internal/people/auth/authtest"
)

func TestMemory(t *testing.T) {
	authtest.Run(t, func(*testing.T) authtest.Store { return authtest.NewMemory("s", "t") })
}
