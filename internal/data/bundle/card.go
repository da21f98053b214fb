package bundle

import (
	"bytes"
	_ "embed"
	"strings"
	"text/template"

	"tiebreak/internal/idrl"
)

//go:embed card.md
var cardText string

var cardTemplate = template.Must(template.New("card").Funcs(template.FuncMap{
	"config": func(name string) string { return strings.TrimSuffix(name, ".parquet") },
	"quote":  quoted,
}).Parse(cardText))

// tables are the tables of a bundle in the order of the card, the one that most want first.
var tables = []string{
	"comparisons.parquet", "labels.parquet", "queries.parquet", "segments.parquet", "trajectories.parquet", "annotators.parquet",
	"policies.parquet", "posterior.parquet", "training.parquet", "events.parquet",
}

// card returns README.md: the data set card, whose header says to the library datasets which
// tables there are.
func (b *builder) card() []byte {
	var there []string
	for _, name := range tables {
		if n, ok := b.meta.Rows[name]; ok && n > 0 { // a file without rows is no data set
			there = append(there, name)
		}
	}
	told := idrl.Instructions{}
	if len(b.told) > 0 {
		told = b.told[len(b.told)-1]
	}
	var out bytes.Buffer
	err := cardTemplate.Execute(&out, struct {
		meta
		Tables       []string
		Instructions string
		ClipFormat   string
	}{b.meta, there, strings.TrimSpace(told.Text), b.cfg.Clips})
	if err != nil {
		panic("bundle: " + err.Error()) // the template is a constant, and is tested
	}
	return out.Bytes()
}

// quoted returns text as a quotation in Markdown, so that none of its lines is taken for a part of
// the card.
func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }
