package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// axePath is where "sh .ci/npm" installs axe-core, from the folder of this package.
var axePath = filepath.Join("..", "..", "internal", "check", "tools", "js", "node_modules", "axe-core", "axe.min.js")

const noAxe = "axe-core is not installed: run sh .ci/npm, which needs the package npm"

// axeSource returns the script of axe-core, which checks a page against the Web Content Accessibility
// Guidelines, or "" where that is not installed. In CI that is a failure.
func axeSource(t *testing.T) string {
	t.Helper()
	source, err := os.ReadFile(axePath)
	switch {
	case errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") == "":
		return ""
	case errors.Is(err, fs.ErrNotExist):
		t.Fatal(noAxe)
	case err != nil:
		t.Fatal(err)
	}
	return string(source)
}

// What axe found on a page.
type findings struct {
	Passed     int
	Violations []string
}

// runAxe is a function of JavaScript that runs axe with the rules of the argument.
//
//go:embed testdata/axe.js
var runAxe string

// accessible reports what axe finds wrong on the page as it stands, in a window of a desk and in one of a
// telephone, light and dark.
func (b *tab) accessible(name string) {
	b.t.Helper()
	source := axeSource(b.t)
	if source == "" {
		b.t.Logf("%s is not checked: %s", name, noAxe)
		return
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
		b.resize(size[0], size[1])
		for _, scheme := range []string{"light", "dark"} {
			b.scheme(scheme)
			if !evaluate[bool](b, "window.axe !== undefined") {
				b.do(chromedp.Evaluate[chromedp.Void](source))
			}
			found := evaluate[findings](b, fmt.Sprintf("(%s)(%t)", runAxe, scheme == "light"))
			if found.Passed == 0 {
				b.t.Errorf("axe checked nothing on %s", name)
			}
			for _, v := range found.Violations {
				b.t.Errorf("%s at %dx%d, %s: %s", name, size[0], size[1], scheme, v)
			}
		}
	}
	b.scheme("")
	b.resize(1280, 800)
}

// scheme makes the browser prefer light or dark pages; "" is its default.
func (b *tab) scheme(name string) {
	b.t.Helper()
	p := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, p); err != nil {
		b.fatalf("prefer %q pages: %v", name, err)
	}
}
