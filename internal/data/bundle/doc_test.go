package bundle_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// The document lists the columns of every table, in their order, with their types.
func TestTheDocumentListsTheColumns(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/datasets.md")
	must(t, err)
	f := write(t, configured(studied(t, 20)))
	tables := 0
	for name, b := range f {
		if strings.Contains(name, "/") || !strings.HasSuffix(name, ".parquet") {
			continue
		}
		tables++
		_, section, ok := strings.Cut(string(doc), "\n### "+name+"\n")
		if !ok {
			t.Errorf("docs/datasets.md has no section %s", name)
		}
		section, _, _ = strings.Cut(section, "\n### ")
		var described []string
		for _, line := range strings.Split(section, "\n") {
			if rest, ok := strings.CutPrefix(line, "| `"); ok {
				column, rest, _ := strings.Cut(rest, "` | ")
				kind, _, _ := strings.Cut(rest, " | ")
				described = append(described, column+": "+kind)
			}
		}
		file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		must(t, err)
		var columns []string
		for _, c := range file.Schema().Fields() {
			columns = append(columns, c.Name()+": "+kindOf(c))
		}
		if diff := cmp.Diff(columns, described); diff != "" {
			t.Errorf("%s (-file +document):\n%s", name, diff)
		}
	}
	if n := strings.Count(string(doc), ".parquet\n\n"); tables != 10 || n != tables {
		t.Errorf("%d tables, and %d sections", tables, n)
	}
}

// kindOf returns the document's word for the type of a column.
func kindOf(n parquet.Node) string {
	if n.Optional() {
		return kindOf(parquet.Required(n)) + " or null"
	}
	if !n.Leaf() { // LIST
		return "list<" + kindOf(n.Fields()[0].Fields()[0]) + ">"
	}
	switch name := n.Type().String(); {
	case strings.HasPrefix(name, "TIMESTAMP"):
		return "timestamp"
	case name == "STRING":
		return "string"
	case name == "INT(64,false)":
		return "uint64"
	}
	return map[parquet.Kind]string{parquet.Boolean: "bool", parquet.Int64: "int64", parquet.Float: "float", parquet.Double: "double"}[n.Type().Kind()]
}
