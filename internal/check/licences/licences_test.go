package licences_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"tiebreak/internal/check/licences"
)

var update = flag.Bool("update", false, "write the file anew")

// TestLicences: what the program prints is of the modules that it is built with.
func TestLicences(t *testing.T) {
	const program = "../../../cmd/tiebreak"
	text, err := licences.Text(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"gonum.org/v1/gonum ", "modernc.org/sqlite ", "github.com/a-h/templ ", "Copyright (c) 2009 The Go Authors"} {
		if !strings.Contains(text, part) {
			t.Errorf("the text lacks %q", part)
		}
	}
	if *update {
		if err := os.WriteFile(program+"/licences.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(program + "/licences.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(kept) != text {
		t.Error("cmd/tiebreak/licences.txt is not that of the present modules: run 'go tool task licences' and commit it")
	}
}
