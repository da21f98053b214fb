package doctest_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"tiebreak/internal/check/must"

	"tiebreak/internal/check/doctest"
)

// The repository has no dead reference.
func TestRepository(t *testing.T) {
	root := must.Get(filepath.Abs("../../.."))(t)
	problems := must.Get(doctest.Check(os.DirFS(root)))(t)
	for _, p := range problems {
		t.Error(p)
	}
}

func TestCheck(t *testing.T) {
	const guide = "# A guide\n\n## 1. First steps\n\n### 1.2 The `list` of *things*, etc.\n\n## Notes\n\n## Notes\n\n```\n## Not a heading\n```\n<a id=\"here\"></a>\n"
	for _, test := range []struct{ name, file, text, want string }{
		{"link", "a.md", "see [it](docs/guide.md)", ""},
		{"dead link", "a.md", "\nsee [it](docs/gone.md)", "a.md:2: link to docs/gone.md, which does not exist"},
		{"dead picture", "a.md", "![it](gone.png)", "a.md:1: link to gone.png, which does not exist"},
		{"dead picture in a tag", "a.md", `<img src="gone.svg">`, "a.md:1: link to gone.svg, which does not exist"},
		{"dead definition", "a.md", "[it]: gone.md", "a.md:1: link to gone.md, which does not exist"},
		{"outside", "a.md", "[it](../other/x.md)", "a.md:1: link to ../other/x.md, which does not exist"},
		{"elsewhere", "a.md", "[it](https://example.org/x.md) [mail](mailto:a@example.org)", ""},
		{"folder", "a.md", "[all](docs) [all](docs/)", ""},
		{"from a folder", "docs/b.md", "[it](guide.md) [up](../a.md)", "docs/b.md:1: link to ../a.md, which does not exist"},
		{"anchor", "a.md", "[1](docs/guide.md#1-first-steps) [1.2](docs/guide.md#12-the-list-of-things-etc) [n](docs/guide.md#notes-1) [h](docs/guide.md#here)", ""},
		{"dead anchor", "a.md", "[it](docs/guide.md#2-first-steps)", "a.md:1: link to docs/guide.md#2-first-steps, which has no such heading"},
		{"anchor in code", "a.md", "[it](docs/guide.md#not-a-heading)", "a.md:1: link to docs/guide.md#not-a-heading, which has no such heading"},
		{"own anchor", "a.md", "# Top\n[up](#top) [down](#end)", "a.md:2: link to #end, which has no such heading"},
		{"in code", "a.md", "`[it](gone.md)`\n```\n[it](gone.md)\n```", ""},
		{"path", "a.md", "`docs/guide.md` `docs/` `envs/NAME` `internal/gone`", "a.md:1: internal/gone does not exist"},
		{"test", "a.md", "`TestGuide` `TestGone`", "a.md:1: no test is called TestGone"},
		{"path of old", "docs/adr/0007-x.md", "`internal/gone`", ""},
		{"Go: document", "x.go", "// X follows docs/guide.md, sections 1 and 1.2.\npackage x", ""},
		{"Go: broken line", "x.go", "package x\n\n// X follows docs/guide.md, section\n// 3.\nvar X int", "x.go:3: docs/guide.md has no section 3"},
		{"Go: second section", "x.go", "package x // see docs/guide.md, sections 1, 1.2 and 1.3", "x.go:1: docs/guide.md has no section 1.3"},
		{"Go: no document", "x.go", "package x // see docs/gone.md.", "x.go:1: docs/gone.md does not exist"},
		{"Go: beside it", "docs/x.go", "package x // see guide.md", ""},
		{"Go: nickname", "x.go", "package x\n\n// Source: reference\n// \"methods\", section 2.1.", "x.go:3: reference \"methods\" is no document: name its path or the publication"},
		{"Go: string", "x.go", "package x\n\nvar X = `reference \"methods\" gone.md`", ""},
		{"Go: address", "x.go", "package x // see https://example.org/gone.md", ""},
		{"Go: decision", "x.go", "package x // decision 7 and decision 8", "x.go:1: docs/adr has no decision 8"},
		{"JavaScript", "x.js", "let x;\n// see docs/guide.md, section\n// 9", "x.js:2: docs/guide.md has no section 9"},
		{"template", "x.templ", "package x\n// reference “webstack”", "x.templ:2: reference \"webstack\" is no document: name its path or the publication"},
		{"other files", "x.txt", "gone.md", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{
				"docs/guide.md":      {Data: []byte(guide)},
				"docs/adr/0007-x.md": {},
				"guide_test.go":      {Data: []byte("package guide\n\nfunc TestGuide() {}\n")},
				".git/x.md":          {Data: []byte("[it](gone.md)")},
				"node_modules/x.md":  {Data: []byte("[it](gone.md)")},
				"venv/x.md":          {Data: []byte("[it](gone.md)")},
			}
			root[test.file] = &fstest.MapFile{Data: []byte(test.text)}
			problems := must.Get(doctest.Check(root))(t)
			got := ""
			for _, p := range problems {
				got += p.String()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
