package carriertest_test

import (
	"testing"

	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/elsewhere/carriertest"
)

func TestMemory(t *testing.T) {
	carriertest.Run(t, func(t *testing.T) (server, worker elsewhere.Carrier) {
		n := &carriertest.Network{}
		server, worker = n.Dial(), n.Dial()
		t.Cleanup(func() { _, _ = server.Close(), worker.Close() })
		return server, worker
	})
}
