package licences_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/licences"
)

var update = flag.Bool("update", false, "write the file anew")

// TestLicences: what each program prints is of the modules that it is built with.
func TestLicences(t *testing.T) {
	for program, parts := range map[string][]string{
		"tiebreak":     {"modernc.org/sqlite ", "github.com/a-h/templ "},
		"tiebreak-lab": {"gonum.org/v1/plot "},
	} {
		folder := "../../../cmd/" + program
		text := must.Get(licences.Text(t.Context(), folder))(t)
		for _, part := range append(parts, "gonum.org/v1/gonum ", "Copyright (c) 2009 The Go Authors") {
			if !strings.Contains(text, part) {
				t.Errorf("the text of %s lacks %q", program, part)
			}
		}
		if *update {
			must.Do(t, os.WriteFile(folder+"/licences.txt", []byte(text), 0o644))
		}
		kept := must.Get(os.ReadFile(folder + "/licences.txt"))(t)
		if string(kept) != text {
			t.Errorf("cmd/%s/licences.txt is not that of the present modules: run 'go tool task licences' and commit it", program)
		}
	}
}
