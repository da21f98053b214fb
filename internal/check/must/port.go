package must

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// Ports of Port: below those that systems give to clients, which could take a port before a server of a test
// listens, or while it starts again.
const firstPort, ports = 12000, 18000

// tried is how many ports Port has tried.
var tried atomic.Uint32

// Port returns a port of 127.0.0.1 at which nothing listens, a different one for each call.
func Port(t testing.TB) int {
	t.Helper()
	for range ports {
		n := 97*uint32(os.Getpid()) + tried.Add(1) // other ports than those of tests in another process
		port := firstPort + int(n%ports)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			Do(t, l.Close())
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
