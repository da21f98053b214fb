package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// A change that a session could not take up is tried again, logged once, until it succeeds.
func TestChangesAreTriedAgain(t *testing.T) {
	var log bytes.Buffer
	tried, fails := 0, errors.New("the disk is full")
	f := follower{
		seen: -1, log: slog.New(slog.NewTextHandler(&log, nil)),
		changes: func(context.Context) (int64, error) { return 7, nil },
		apply:   func(context.Context) error { tried++; return fails },
	}
	for range 3 {
		f.step(t.Context())
	}
	if tried != 3 || strings.Count(log.String(), "disk is full") != 1 {
		t.Errorf("tried %d times, log:\n%s", tried, log.String())
	}
	fails = nil
	for range 3 {
		f.step(t.Context())
	}
	if tried != 4 {
		t.Errorf("tried %d times after it has succeeded", tried-4)
	}
}
