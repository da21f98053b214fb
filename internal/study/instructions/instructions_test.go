package instructions_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/check/must"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/instructions"
)

// show knows one picture.
func show(address, alt string) (string, bool) {
	if address == "picture:0011" || address == "legend:arrow" {
		return `<img src="/p" alt="` + html.EscapeString(alt) + `">`, true
	}
	return "", false
}

func TestRender(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"paragraph", "Look at *both* **clips**.", "<p>Look at <em>both</em> <strong>clips</strong>.</p>"},
		{"lines stay lines", "One.\nTwo.", "<p>One.<br>\nTwo.</p>"},
		{"list", "- one\n- two", "<ul>\n<li>one</li>\n<li>two</li>\n</ul>"},
		{"headings begin below those of the page", "# What\n\n### How", "<h3>What</h3>\n<h5>How</h5>"},
		{"the highest heading sets the level", "#### What", "<h3>What</h3>"},
		{"link", "[rules](https://example.org/a?b=1&c=2)", `<p><a href="https://example.org/a?b=1&amp;c=2" target="_blank" rel="noopener nofollow">rules</a></p>`},
		{"mail", "<me@example.org>", `<p><a href="mailto:me@example.org" target="_blank" rel="noopener nofollow">me@example.org</a></p>`},
		{"code", "`a<b`", "<p><code>a&lt;b</code></p>"},
		{"picture", "![a *big* car](picture:0011)", `<p><img src="/p" alt="a big car"></p>`},
		{"picture of the legend", "![](legend:arrow)", `<p><img src="/p" alt=""></p>`},
		{"a picture that is not there", "![a car](picture:ff)", "<p>a car</p>"},
		{"a picture from elsewhere", "![a car](https://example.org/spy.png)", "<p>a car</p>"},
		{"a picture in the text", "![a car](data:image/png;base64,AAAA)", "<p>a car</p>"},
		{"empty", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.TrimSpace(instructions.Render(test.text, show)); got != test.want {
				t.Errorf("render %q:\n%s\nwant\n%s", test.text, got, test.want)
			}
		})
	}
}

var (
	tag       = regexp.MustCompile(`</?([a-zA-Z][^\s/>]*)([^>]*)>`)
	attribute = regexp.MustCompile(`\s([a-zA-Z-]+)="([^"]*)"`)
)

// harmless reports what of HTML is more than these instructions can have.
func harmless(out string) error {
	allowedTags := strings.Fields("p br em strong ul ol li h3 h4 h5 h6 a code pre blockquote hr img")
	for _, m := range tag.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(allowedTags, m[1]) {
			return fmt.Errorf("the tag %s", m[0])
		}
		for _, a := range attribute.FindAllStringSubmatch(m[2], -1) {
			value := html.UnescapeString(a[2])
			ok := map[string]bool{"alt": true, "class": true, "start": true, "target": value == "_blank", "rel": value == "noopener nofollow", "src": value == "/p"}[a[1]]
			if a[1] == "href" {
				lower := strings.ToLower(value) // a scheme may be written in capitals (RFC 3986, section 3.1)
				ok = strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "mailto:")
			}
			if !ok {
				return fmt.Errorf("the attribute %s of %s", a[0], m[0])
			}
		}
	}
	if left := tag.ReplaceAllString(out, ""); strings.ContainsAny(left, "<>") {
		return fmt.Errorf("a stray bracket in %q", left)
	}
	return nil
}

// hostile are texts of somebody who wants to harm readers.
var hostile = map[string]string{
	"script":              "<script>alert(1)</script>",
	"script in a line":    "a <script>alert(1)</script> b",
	"event handler":       `<img src=x onerror=alert(1)>`,
	"style":               "<style>*{display:none}</style>\n\n<p style='position:fixed'>x</p>",
	"frame":               "<iframe src=https://example.org></iframe>",
	"comment":             "<!-- --!> <script>alert(1)</script> -->",
	"javascript":          "[x](javascript:alert(1))",
	"javascript in caps":  "[x](JaVaScRiPt:alert(1))",
	"web in caps":         "[](httP://g/)",
	"javascript, spaced":  "[x](<java\tscript:alert(1)>)",
	"javascript, entity":  "[x](&#106;avascript:alert(1))",
	"javascript autolink": "<javascript:alert(1)>",
	"data link":           "[x](data:text/html;base64,PHNjcmlwdD4=)",
	"vbscript":            "[x](vbscript:msgbox(1))",
	"a file":              "[x](file:///etc/passwd)",
	"no host":             "[x](http:alert)",
	"another page":        "[x](/signout) [y](//example.org)",
	"reference":           "[x][1]\n\n[1]: javascript:alert(1)",
	"title breaks out":    `[x](https://example.org "a\" onmouseover=\"alert(1)")`,
	"address breaks out":  `[x](https://example.org/"onmouseover="alert(1))`,
	"alt breaks out":      `![" onerror="alert(1)](picture:0011)`,
	"picture as script":   "![x](javascript:alert(1))",
	"link in a picture":   "![[x](javascript:alert(1))](picture:0011)",
	"fence breaks out":    "```\"><script>alert(1)</script>\ncode\n```",
	"processing":          "<?php echo 1 ?>\n<!DOCTYPE html>\n<![CDATA[<script>]]>",
	"not text":            "\xff\xfe<script>\x00",
	"deep quotes":         strings.Repeat(">", 4000) + " x",
	"deep lists":          strings.Repeat("- ", 2000) + "x",
	"deep emphasis":       strings.Repeat("*a_", 1300),
	"deep brackets":       strings.Repeat("![", 2000) + strings.Repeat("](picture:0011)", 100),
	"unclosed links":      strings.Repeat("[a](", 1000),
	"many backticks":      strings.Repeat("`a``", 1000),
}

func TestHostile(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			out := instructions.Render(text, show)
			if err := harmless(out); err != nil {
				t.Errorf("%v in %.300s", err, out)
			}
		})
	}
}

// TestMegabyte: also far more than can be stored is rendered in time, not only refused.
func TestMegabyte(t *testing.T) {
	began := time.Now()
	out := instructions.Render(strings.Repeat("[x](javascript:alert(1)) <script> ", 32_000), show)
	if err := harmless(out); err != nil {
		t.Error(err)
	}
	if err := (idrl.Instructions{Format: idrl.Markdown, Text: strings.Repeat("x", 1<<20)}).Check(); idrl.KindOf(err) != idrl.Invalid {
		t.Errorf("a megabyte of instructions: %v, want an error of kind Invalid", err)
	}
	t.Logf("a megabyte took %v", time.Since(began))
}

func FuzzRender(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > idrl.MaxInstructions {
			return
		}
		if err := harmless(instructions.Render(text, show)); err != nil {
			t.Errorf("%v of %q", err, text)
		}
	})
}

func TestPictures(t *testing.T) {
	got := instructions.Pictures("![a](picture:1)\n\n- ![b](x/y.png)\n\n`![c](no)` [d](https://example.org)\n\n![e][f]\n\n[f]: legend:arrow")
	if want := []string{"picture:1", "x/y.png", "legend:arrow"}; !slices.Equal(got, want) {
		t.Errorf("Pictures = %q, want %q", got, want)
	}
}

func TestLead(t *testing.T) {
	for source, want := range map[string]string{
		"# Success\n\nThe **cup** is in\nthe `drawer`.\n\nNothing fell.": "The cup is in the drawer.",
		"- ![](legend:cup)\n- Open the [drawer](https://example.org).":   "Open the drawer.",
		"Open & close <b>it</b> \\*twice\\*":                             "Open & close it *twice*",
		"# Only a heading":                                               "",
		"":                                                               "",
	} {
		if got := instructions.Lead(source); got != want {
			t.Errorf("Lead(%q) = %q, want %q", source, got, want)
		}
	}
}

func encoded(t *testing.T, w, h int, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.White, color.Black})
	var b bytes.Buffer
	must.Do(t, encode(&b, img))
	return b.Bytes()
}

// webp is a picture of one pixel.
const webp = "UklGRhwAAABXRUJQVlA4TA8AAAAvAAAAAAcQ/Y/+ByKi/wEA"

func TestCheckPicture(t *testing.T) {
	asPNG := func(b *bytes.Buffer, img image.Image) error { return png.Encode(b, img) }
	small := encoded(t, 8, 6, asPNG)
	tiny := must.Get(base64.StdEncoding.DecodeString(webp))(t)
	for _, test := range []struct {
		name string
		b    []byte
		want string // type; empty if it is refused
	}{
		{"PNG", small, "image/png"},
		{"JPEG", encoded(t, 8, 6, func(b *bytes.Buffer, img image.Image) error { return jpeg.Encode(b, img, nil) }), "image/jpeg"},
		{"GIF", encoded(t, 8, 6, func(b *bytes.Buffer, img image.Image) error { return gif.Encode(b, img, nil) }), "image/gif"},
		{"WebP", tiny, "image/webp"},
		{"nothing", nil, ""},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), ""},
		{"a page", []byte("<!DOCTYPE html><script>alert(1)</script>"), ""},
		{"a page that begins as GIF", []byte("GIF89a/*<script>alert(1)</script>*/"), ""},
		{"cut off", small[:len(small)-20], ""},
		{"too large a file", append(slices.Clone(small), make([]byte, record.MaxPicture)...), ""},
		{"too many pixels", encoded(t, 5000, 10, asPNG), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := instructions.CheckPicture(test.b)
			if (test.want == "") != (err != nil && idrl.KindOf(err) == idrl.Invalid) || p.Type != test.want {
				t.Errorf("type %q, error %v; want %q", p.Type, err, test.want)
			}
			if err == nil && (len(p.ID) != 16 || !bytes.Equal(p.Content, test.b)) {
				t.Errorf("picture %q has %d bytes", p.ID, len(p.Content))
			}
		})
	}
}

func ExampleRender() {
	fmt.Print(instructions.Render("Prefer the *faster* car. <script>", nil))
	// Output: <p>Prefer the <em>faster</em> car. &lt;script&gt;</p>
}
