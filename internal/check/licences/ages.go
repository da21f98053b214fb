package licences

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// oldAfter is the age of a release from which a module needs a reason to be used: a year.
const oldAfter = 365 * 24 * time.Hour

// A release is a version of a module that a program needs directly.
type release struct {
	path, version string
	at            time.Time // zero if that is not known
}

// reasons say why releases that are older than a year are used, by module and version.
var reasons = map[string]string{
	"github.com/google/go-cmp v0.7.0":     "The newest release; for tests alone.",
	"github.com/gorilla/websocket v1.5.3": "The newest release, in which the known faults (CVE-2020-27813, GO-2026-6278) are mended. Messages are bounded before they are read: `TestTooLargeMessageEndsTheSocket`, `TestEndlessNonsenseEndsTheSocket`.",
	"gonum.org/v1/plot v0.17.0":           "The newest release; for the laboratory's charts alone.",
	"git.sr.ht/~sbinet/gg v0.7.0":         "Draws clips for exports; v0.8.0 is to be compared picture by picture first.",
}

// Ages returns a table of the modules that the module in folder needs directly: version, day of its release, and the reason for
// one that was more than a year old at asOf. It fails if there is none, or if there is a reason that is no longer needed. Days of
// releases are those of known, by module and version; if it is nil, of the module cache or the network.
func Ages(ctx context.Context, folder string, asOf time.Time, known map[string]string) (string, error) {
	list, err := direct(ctx, folder)
	if err != nil {
		return "", err
	}
	for i := range list {
		r := &list[i]
		day := known[r.path+" "+r.version]
		if known == nil {
			day, err = output(exec.CommandContext(ctx, "go", "list", "-m", "-f", `{{with .Time}}{{.Format "2006-01-02"}}{{end}}`, r.path+"@"+r.version), folder)
			if err != nil {
				return "", err
			}
		}
		if r.at, err = time.Parse(time.DateOnly, strings.TrimSpace(day)); err != nil {
			return "", fmt.Errorf("the day of the release %s %s is not known: run 'go tool task licences' where there is a network, and commit the list", r.path, r.version)
		}
	}
	return ageTable(list, asOf, reasons)
}

// direct returns the modules that the module in folder needs directly, without their days.
func direct(ctx context.Context, folder string) (out []release, err error) {
	text, err := output(exec.CommandContext(ctx, "go", "mod", "edit", "-json"), folder)
	if err != nil {
		return nil, err
	}
	var mod struct {
		Require []struct {
			Path, Version string
			Indirect      bool
		}
	}
	if err := json.Unmarshal([]byte(text), &mod); err != nil {
		return nil, err
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			out = append(out, release{path: r.Path, version: r.Version})
		}
	}
	slices.SortFunc(out, func(a, b release) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// ageTable writes the table of a list.
func ageTable(list []release, asOf time.Time, reasons map[string]string) (string, error) {
	out, used := &strings.Builder{}, 0
	fmt.Fprintf(out, "As of %s.\n\n| module | version | released | why it is used although it is older than a year |\n|---|---|---|---|\n", asOf.Format(time.DateOnly))
	for _, r := range list {
		why := ""
		if asOf.Sub(r.at) > oldAfter {
			if why = reasons[r.path+" "+r.version]; why == "" {
				return "", fmt.Errorf("%s %s is of %s, more than a year before %s: update it, or write the reason into internal/check/licences/ages.go", r.path, r.version, r.at.Format(time.DateOnly), asOf.Format(time.DateOnly))
			}
			used++
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", r.path, r.version, r.at.Format(time.DateOnly), why)
	}
	if used != len(reasons) {
		return "", fmt.Errorf("of %d reasons for old releases %d are needed: remove the others from internal/check/licences/ages.go", len(reasons), used)
	}
	return out.String(), nil
}
