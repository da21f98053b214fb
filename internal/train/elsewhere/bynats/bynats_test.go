package bynats_test

import (
	"testing"

	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/carriertest"
)

func TestContract(t *testing.T) {
	t.Parallel()
	carriertest.Run(t, func(t *testing.T) (server, worker elsewhere.Carrier) {
		p := start(t)
		return p.server(t), p.worker(t, "w1")
	})
}
