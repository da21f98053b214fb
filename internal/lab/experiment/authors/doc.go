// Package authors holds what the paper's authors' published code computed:
// learning curves, times and the instances of seeds 1 to 30, as numbers; and of the
// corridors, which were not run again, what the paper itself says.
// README.md says where they come from. Everything is parsed once, on first use.
//
// The values returned share memory: callers must not change them.
package authors

import (
	"embed"
	"fmt"
)

//go:embed curves/*.csv instances.json
var files embed.FS

// must is for the files of this package, which its tests have read: an error is
// a fault of the program.
func must[T any](v T, err error) T {
	if err != nil {
		panic(fmt.Sprintf("authors: %v", err))
	}
	return v
}
