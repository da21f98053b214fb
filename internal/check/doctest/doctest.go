package doctest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// A Problem is a reference that leads nowhere.
type Problem struct {
	File string // slash-separated, relative to the root
	Line int    // from 1
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Check returns the problems of all files of root, in the order of their paths;
// then the names of tests in documents that no test has. Hidden folders and
// those of installed tools are left out.
func Check(root fs.FS) (out []Problem, err error) {
	c := checker{root: root, tests: map[string]bool{}}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "venv"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		found, err := c.file(name)
		out = append(out, found...)
		return err
	})
	return append(out, c.untested()...), err
}

type checker struct {
	root  fs.FS
	tests map[string]bool // names of functions in files *_test.go
	spans []Problem       // where documents name such a function, with its name as Text
}

// untested returns where documents name tests that do not exist.
func (c *checker) untested() (out []Problem) {
	for _, s := range c.spans {
		if !c.tests[s.Text] {
			out = append(out, Problem{s.File, s.Line, "no test is called " + s.Text})
		}
	}
	return out
}

func (c *checker) file(name string) ([]Problem, error) {
	check := c.source
	switch path.Ext(name) {
	case ".md":
		check = c.markdown
	case ".go":
		check = c.golang
	case ".js", ".ts", ".templ", ".css", ".sql", ".c", ".h", ".yml":
	default:
		return nil, nil
	}
	data, err := fs.ReadFile(c.root, name)
	if err != nil {
		return nil, err
	}
	return check(name, string(data))
}

// golang checks the comments of a Go file.
func (c *checker) golang(name, text string) (out []Problem, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	if strings.HasSuffix(name, "_test.go") {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				c.tests[f.Name.Name] = true
			}
		}
	}
	for _, group := range file.Comments {
		out = append(out, c.citations(name, set.Position(group.Pos()).Line, group.Text())...)
	}
	return out, nil
}

// source checks all of a file in another language, comment or not, but for the
// marks that begin the lines of a comment.
func (c *checker) source(name, text string) ([]Problem, error) {
	return c.citations(name, 1, commentMark.ReplaceAllString(text, "$1")), nil
}

var (
	commentMark = regexp.MustCompile(`(?m)^([ \t]*)(?://|#|--|\*)[ \t]?`)

	// unnamed is a citation of a document that has a nickname and no path.
	unnamed = regexp.MustCompile(`(?i)\breference[\s]+["“]([^"”]+)["”]`)

	// cited is a citation of a Markdown file, and perhaps of its sections.
	cited = regexp.MustCompile(`([\w./:-]*\w\.md)\b(?:,\s+sections?\s+(\d[\d.]*\d|\d)((?:(?:,|\s+and|,\s+and)\s+(?:\d[\d.]*\d|\d))*))?`)

	// decision is a citation of a file in docs/adr.
	decision = regexp.MustCompile(`(?i)\b(?:decision|adr)\s+(\d+)\b`)

	number = regexp.MustCompile(`\d[\d.]*\d|\d`)
)

// citations checks a text that begins in a line of a file.
func (c *checker) citations(name string, line int, text string) (out []Problem) {
	report := func(at int, format string, args ...any) {
		out = append(out, Problem{name, line + strings.Count(text[:at], "\n"), fmt.Sprintf(format, args...)})
	}
	for _, m := range unnamed.FindAllStringSubmatchIndex(text, -1) {
		report(m[0], "reference %q is no document: name its path or the publication", text[m[2]:m[3]])
	}
	for _, m := range cited.FindAllStringSubmatchIndex(text, -1) {
		doc := text[m[2]:m[3]]
		if strings.Contains(doc, "://") {
			continue
		}
		headings, err := c.headings(doc)
		if errors.Is(err, fs.ErrNotExist) {
			headings, err = c.headings(path.Join(path.Dir(name), doc))
		}
		if err != nil {
			report(m[0], "%s does not exist", doc)
			continue
		}
		if m[4] < 0 {
			continue
		}
		for _, section := range number.FindAllString(text[m[4]:m[7]], -1) {
			if !headings.numbered(section) {
				report(m[0], "%s has no section %s", doc, section)
			}
		}
	}
	for _, m := range decision.FindAllStringSubmatchIndex(text, -1) {
		if files, _ := fs.Glob(c.root, fmt.Sprintf("docs/adr/%04s-*.md", text[m[2]:m[3]])); files == nil {
			report(m[0], "docs/adr has no decision %s", text[m[2]:m[3]])
		}
	}
	return out
}
