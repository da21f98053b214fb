package instructions

import (
	"bytes"
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Schemes of the addresses of pictures in the text: of an uploaded one, "picture:ID", and of
// one in the environment's legend, "legend:NAME".
const (
	PictureScheme = "picture:"
	LegendScheme  = "legend:"
)

// A Show returns the HTML of the picture at an address of one of the two schemes, safe to be
// shown, with alt, plain text, as what it shows. ok is false if there is no such picture.
type Show func(address, alt string) (element string, ok bool)

// topHeading is the level of the highest heading, which stands below one of the page.
const topHeading = 3

// Render returns Markdown as HTML. Raw HTML is shown as text, a link with another scheme than http, https or mailto
// as its words, and a missing picture as its alternative text. Line breaks are kept.
func Render(source string, show Show) string {
	src := []byte(strings.ToValidUTF8(source, "\uFFFD"))
	doc := goldmark.DefaultParser().Parse(text.NewReader(src))
	r := &safe{show: show, highest: highest(doc)}
	var b bytes.Buffer
	w := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(r, 1), // before the usual one
		util.Prioritized(markup.NewRenderer(markup.WithHardWraps()), 1000),
	))
	if err := w.Render(&b, src, doc); err != nil {
		return "<p>" + html.EscapeString(source) + "</p>" // a buffer never fails
	}
	return b.String()
}

// Pictures returns the addresses of the pictures in a text, in order.
func Pictures(source string) (out []string) {
	doc := goldmark.DefaultParser().Parse(text.NewReader([]byte(source)))
	walk(doc, func(n ast.Node) {
		if img, ok := n.(*ast.Image); ok {
			out = append(out, string(img.Destination))
		}
	})
	return out
}

// Lead returns the words of the first paragraph or entry of a list in Markdown, without marks, on one line.
// It is empty if there are none.
func Lead(source string) (lead string) {
	src := []byte(strings.ToValidUTF8(source, "\uFFFD"))
	walk(goldmark.DefaultParser().Parse(text.NewReader(src)), func(n ast.Node) {
		if k := n.Kind(); lead == "" && (k == ast.KindParagraph || k == ast.KindTextBlock) {
			lead = strings.Join(strings.Fields(words(src, n)), " ")
		}
	})
	return lead
}

// highest returns the level of the highest heading of a document, 1 if it has none.
func highest(doc ast.Node) int {
	least := 7
	walk(doc, func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			least = min(least, h.Level)
		}
	})
	return least
}

func walk(doc ast.Node, visit func(ast.Node)) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// safe renders the nodes that could do harm, and headings.
type safe struct {
	show    Show
	highest int // level of the highest heading
}

// RegisterFuncs implements renderer.NodeRenderer.
func (s *safe) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, s.heading)
	r.Register(ast.KindLink, s.link)
	r.Register(ast.KindAutoLink, s.autoLink)
	r.Register(ast.KindImage, s.image)
	r.Register(ast.KindRawHTML, s.rawHTML)
	r.Register(ast.KindHTMLBlock, s.htmlBlock)
}

func (s *safe) heading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "h" + string(rune('0'+min(6, topHeading+n.(*ast.Heading).Level-s.highest))) + ">"
	if entering {
		_, err := w.WriteString("<" + tag)
		return ast.WalkContinue, err
	}
	_, err := w.WriteString("</" + tag + "\n")
	return ast.WalkContinue, err
}

// allowed reports whether a link may lead to an address.
func allowed(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

func anchor(address string) string {
	return `<a href="` + html.EscapeString(address) + `" target="_blank" rel="noopener nofollow">`
}

func (s *safe) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	address := string(n.(*ast.Link).Destination)
	if !allowed(address) {
		return ast.WalkContinue, nil
	}
	tag := "</a>"
	if entering {
		tag = anchor(address)
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}

func (s *safe) autoLink(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	address, label := string(link.URL(src)), html.EscapeString(string(link.Label(src)))
	if link.AutoLinkType == ast.AutoLinkEmail {
		address = "mailto:" + address
	}
	if allowed(address) {
		label = anchor(address) + label + "</a>"
	}
	_, err := w.WriteString(label)
	return ast.WalkSkipChildren, err
}

func (s *safe) image(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	alt := words(src, n)
	element, ok := "", false
	address := string(n.(*ast.Image).Destination)
	if s.show != nil && (strings.HasPrefix(address, PictureScheme) || strings.HasPrefix(address, LegendScheme)) {
		element, ok = s.show(address, alt)
	}
	if !ok {
		element = html.EscapeString(alt)
	}
	_, err := w.WriteString(element)
	return ast.WalkSkipChildren, err
}

// words returns the text in a node.
func words(src []byte, n ast.Node) string {
	var b strings.Builder
	walk(n, func(n ast.Node) {
		switch t := n.(type) {
		case *ast.Text:
			b.Write(t.Value(src))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(t.Value)
		}
	})
	return html.UnescapeString(string(util.UnescapePunctuations([]byte(strings.TrimSpace(b.String())))))
}

func (s *safe) rawHTML(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	return ast.WalkSkipChildren, escaped(w, src, n.(*ast.RawHTML).Segments)
}

func (s *safe) htmlBlock(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	block := n.(*ast.HTMLBlock)
	if entering {
		if _, err := w.WriteString("<p>"); err != nil {
			return ast.WalkStop, err
		}
		return ast.WalkContinue, escaped(w, src, block.Lines())
	}
	if block.HasClosure() {
		if _, err := w.WriteString(html.EscapeString(string(block.ClosureLine.Value(src)))); err != nil {
			return ast.WalkStop, err
		}
	}
	_, err := w.WriteString("</p>\n")
	return ast.WalkContinue, err
}

// escaped writes lines of the source as text.
func escaped(w util.BufWriter, src []byte, lines *text.Segments) error {
	for i := range lines.Len() {
		line := lines.At(i)
		if _, err := w.WriteString(html.EscapeString(string(line.Value(src)))); err != nil {
			return err
		}
	}
	return nil
}
