package web

import "time"

// PingEvery makes s look after its sockets more often. Call it before the first.
func PingEvery(s *Server, d time.Duration) { s.pingEvery = d }
