package byfolder

import (
	"log/slog"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
)

// Config is a stub.
type Config struct {
	Dir    string
	Shared bool
	Log    *slog.Logger
}

// Open is a stub.
func Open(Config) (elsewhere.Carrier, error) { return nil, idrl.Errorf(idrl.Unavailable, "no folder yet") }
