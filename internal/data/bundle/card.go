package bundle

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"text/template"

	"tiebreak/internal/base/words"
	"tiebreak/internal/idrl"
)

//go:embed card.md
var cardText string

var cardTemplate = template.Must(template.New("card").Funcs(template.FuncMap{
	"config": func(name string) string { return strings.TrimSuffix(name, ".parquet") },
	"yaml":   yamlText, "size": sizeCategory, "licence": hubLicence, "list": words.List, "cell": cellText,
	"quote": quoted,
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

// Terms returns the rows of a data card, a table in Markdown, that say who made the data of a session, under which licence, and how
// people were recruited and paid.
func Terms(s idrl.SessionSpec) string {
	var m meta
	m.terms(s)
	var out strings.Builder
	if err := cardTemplate.ExecuteTemplate(&out, "terms", m); err != nil {
		panic("bundle: " + err.Error()) // the template is a constant, and is tested
	}
	return out.String()
}

// terms sets what Terms writes.
func (m *meta) terms(s idrl.SessionSpec) {
	m.Authors, m.Emails = authors(s.Authors)
	m.Licence, m.Recruitment, m.Payment, m.Consent = s.Licence, s.Recruitment, s.Payment, s.Consent != ""
}

// authors returns the names of a list with semicolons, and the addresses that stand in <> behind them.
func authors(list string) (names, emails []string) {
	names, emails = []string{}, []string{}
	for one := range strings.SplitSeq(list, ";") {
		name, rest, _ := strings.Cut(one, "<")
		if email, _, ok := strings.Cut(rest, ">"); ok && strings.Contains(email, "@") {
			emails = append(emails, strings.TrimSpace(email))
		}
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, emails
}

// cellText returns text as a cell of a table in Markdown: on one line, and with no part of it taken for Markdown or HTML.
func cellText(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "`", "\\`", "[", "\\[", "*", "\\*", "_", "\\_").Replace(strings.Join(strings.Fields(text), " "))
}

// yamlText returns text as a string of YAML in double quotes.
func yamlText(text string) string {
	b, err := json.Marshal(text) // JSON is a part of YAML
	if err != nil {
		panic("bundle: " + err.Error()) // a string is always marshalled
	}
	return string(b)
}

// sizeCategory returns the name that the Hugging Face hub has for a number of rows.
func sizeCategory(n int) string {
	for _, c := range []struct {
		below int
		name  string
	}{{1e3, "n<1K"}, {1e4, "1K<n<10K"}, {1e5, "10K<n<100K"}, {1e6, "100K<n<1M"}} {
		if n < c.below {
			return c.name
		}
	}
	return "1M<n<10M"
}

// hubLicences are the licences of data that researchers use most, by which the hub knows them: the SPDX identifiers in lower case.
var hubLicences = []string{
	"apache-2.0", "bsd-3-clause", "cc-by-4.0", "cc-by-nc-4.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0", "cc-by-sa-4.0", "cc0-1.0", "mit", "odbl", "pddl",
}

// hubLicence returns the value of license in the header of the card: "other" for a licence that the hub has no name for, whose
// name the header then has in license_name, and "unknown" where none is stated.
func hubLicence(stated string) string {
	id := strings.ToLower(strings.TrimSpace(stated))
	switch {
	case id == "":
		return "unknown"
	case slices.Contains(hubLicences, id):
		return id
	}
	return "other"
}

// quoted returns text as a quotation in Markdown, so that none of its lines is taken for a part of
// the card.
func quoted(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }
