package bundle

import (
	"context"
	"embed"
)

// scriptFiles are programs in Python for whoever uses a bundle.
//
//go:embed python/*.py
var scriptFiles embed.FS

// scripts writes them.
func (b *builder) scripts(context.Context) error {
	entries, err := scriptFiles.ReadDir("python")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := scriptFiles.ReadFile("python/" + e.Name())
		if err != nil {
			return err
		}
		if err := b.content("python/"+e.Name(), text); err != nil {
			return err
		}
	}
	return nil
}
