package doctest

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	link     = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`) // also of an image
	defined  = regexp.MustCompile(`^\s*\[[^\]]+\]:\s+<?([^\s>]+)`)
	tagged   = regexp.MustCompile(`<(?:img|a|source)\b[^>]*?\b(?:src|href|srcset)="([^"]+)"`)
	span     = regexp.MustCompile("`[^`]*`")
	heading  = regexp.MustCompile(`^#{1,6}\s+(.+?)\s*#*$`)
	named    = regexp.MustCompile(`<a\s+(?:id|name)="([^"]+)"`)
	external = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*:`)

	// place is a path of the repository in a code span, but for one with a blank to
	// fill in, as envs/NAME.
	place = regexp.MustCompile("`((?:cmd|docs|envs|internal|store|static|templates|web)/[\\w./-]*[\\w/])`")
	blank = regexp.MustCompile(`/[A-Z]+(?:/|$)`)

	// test is the name of a test in a code span.
	test = regexp.MustCompile("`((?:Test|Benchmark|Fuzz|Example)[A-Z]\\w*)`")
)

// markdown checks the links of a file, their anchors, and the paths and tests in its
// code spans; the last not in the log of changes and in decisions, which tell of their
// own day.
func (c *checker) markdown(name, text string) (out []Problem, err error) {
	dated := name == "CHANGELOG.md" || strings.HasPrefix(name, "docs/adr/")
	for n, line := range lines(text) {
		report := func(why string) { out = append(out, Problem{name, n + 1, why}) }
		if !dated {
			for _, m := range place.FindAllStringSubmatch(line, -1) {
				if _, err := fs.Stat(c.root, strings.TrimSuffix(m[1], "/")); err != nil && !blank.MatchString(m[1]) {
					report(m[1] + " does not exist")
				}
			}
			for _, m := range test.FindAllStringSubmatch(line, -1) {
				c.spans = append(c.spans, Problem{name, n + 1, m[1]})
			}
		}
		line = span.ReplaceAllString(line, "``")
		for _, p := range []*regexp.Regexp{link, defined, tagged} {
			for _, m := range p.FindAllStringSubmatch(line, -1) {
				if why := c.dead(name, m[1]); why != "" {
					report(why)
				}
			}
		}
	}
	return out, nil
}

// dead says what is wrong with a link of a file, or nothing.
func (c *checker) dead(name, target string) string {
	if external.MatchString(target) || strings.HasPrefix(target, "//") {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := name
	if file != "" {
		to = path.Join(path.Dir(name), file)
	}
	info, err := fs.Stat(c.root, to)
	if err != nil {
		return fmt.Sprintf("link to %s, which does not exist", target)
	}
	if anchor == "" || info.IsDir() || path.Ext(to) != ".md" {
		return ""
	}
	if h, err := c.headings(to); err != nil || !slices.Contains(h.anchors, anchor) {
		return fmt.Sprintf("link to %s, which has no such heading", target)
	}
	return ""
}

// headings are those of a document.
type headings struct {
	titles  []string
	anchors []string // by which links lead to them, and others that the document names
}

func (c *checker) headings(name string) (h headings, err error) {
	data, err := fs.ReadFile(c.root, path.Clean(name))
	if err != nil {
		return h, err
	}
	times := map[string]int{}
	for _, line := range lines(string(data)) {
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			h.anchors = append(h.anchors, m[1])
		}
		m := heading.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		a := anchorOf(m[1])
		if times[a]++; times[a] > 1 {
			a = fmt.Sprintf("%s-%d", a, times[a]-1)
		}
		h.titles, h.anchors = append(h.titles, m[1]), append(h.anchors, a)
	}
	return h, nil
}

// numbered reports whether a heading begins with that number.
func (h headings) numbered(section string) bool {
	return slices.ContainsFunc(h.titles, func(t string) bool {
		first, _, _ := strings.Cut(t, " ")
		return strings.TrimSuffix(first, ".") == section
	})
}

// anchorOf returns the anchor that GitHub gives to a heading: its text in lower
// case, without punctuation, with dashes for spaces.
func anchorOf(title string) string {
	title = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(title, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
}

// lines returns the lines of a text; those of fenced code are empty.
func lines(text string) []string {
	out := strings.Split(text, "\n")
	fence := ""
	for i, l := range out {
		mark := strings.TrimSpace(l)
		switch {
		case fence == "" && (strings.HasPrefix(mark, "```") || strings.HasPrefix(mark, "~~~")):
			fence = mark[:3]
		case fence != "" && strings.HasPrefix(mark, fence):
			fence = ""
		case fence == "":
			continue
		}
		out[i] = ""
	}
	return out
}
