// Command grafana reads a dashboard by the schema of Grafana, from which grafana-foundation-sdk is generated: unknown fields of the dashboard
// and its panels, missing ones and wrong types are errors.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

func main() {
	plugins.RegisterDefaultPlugins()
	n, err := check(os.Args[1])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d panels\n", os.Args[1], n)
}

// check returns the number of panels of the dashboard in a file.
func check(path string) (panels int, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	var d dashboard.Dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		return 0, err
	}
	var strict dashboard.Dashboard
	return len(d.Panels), errors.Join(some(strict.UnmarshalJSONStrict(text)), some(d.Validate()))
}

// some returns err, or nil if it is a list of no errors, which the package returns where there are none.
func some(err error) error {
	var list cog.BuildErrors
	if errors.As(err, &list) && len(list) == 0 {
		return nil
	}
	return err
}
