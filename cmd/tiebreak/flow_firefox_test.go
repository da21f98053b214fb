package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestBrowserFirefox does everything that annotators do in Firefox, by keyboard alone, by touch alone, and by
// what the accessibility tree says.
func TestBrowserFirefox(t *testing.T) {
	t.Parallel()
	browser := startFirefox(t)
	t.Run("keyboard", func(t *testing.T) { goesThrough(t, newFirefox(t, browser), keyboard{}) })
	t.Run("touch", func(t *testing.T) {
		f := newFirefox(t, browser)
		f.resize(390, 844)
		goesThrough(t, f, finger{})
	})
	t.Run("tree", func(t *testing.T) { goesThrough(t, newFirefox(t, browser), reader{}) })
}

// firefox is a surface of Firefox. Nodes are shared references of WebDriver BiDi.
type firefox struct {
	*bidi
	t       *testing.T
	context string // id of the tab
}

// newFirefox opens a tab of 1280x800 of somebody who has no cookies yet.
func newFirefox(t *testing.T, browser *bidi) *firefox {
	t.Helper()
	f := &firefox{bidi: browser, t: t}
	var person struct{ UserContext string }
	f.must("browser.createUserContext", map[string]any{}, &person)
	t.Cleanup(func() {
		f.must("browser.removeUserContext", map[string]any{"userContext": person.UserContext}, nil) // closes the tab
	})
	var tab struct{ Context string }
	f.must("browsingContext.create", map[string]any{"type": "window", "userContext": person.UserContext}, &tab)
	f.context = tab.Context
	f.resize(1280, 800)
	return f
}

func (f *firefox) must(method string, params, result any) {
	f.t.Helper()
	if err := f.call(method, params, result); err != nil {
		f.t.Fatal(err)
	}
}

func (f *firefox) resize(width, height int) {
	f.t.Helper()
	f.must("browsingContext.setViewport", map[string]any{"context": f.context, "viewport": map[string]int{"width": width, "height": height}}, nil)
}

func (f *firefox) open(url string) {
	f.t.Helper()
	f.must("browsingContext.navigate", map[string]any{"context": f.context, "url": url, "wait": "complete"}, nil)
}

func (f *firefox) ask(expression string) (json.RawMessage, error) {
	return f.run("script.evaluate", map[string]any{"expression": asJSON(expression)})
}

// run has a script run that gives JSON as a string.
func (f *firefox) run(method string, params map[string]any) (json.RawMessage, error) {
	params["target"], params["awaitPromise"] = map[string]any{"context": f.context}, true
	var got struct {
		Type             string
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	if err := f.call(method, params, &got); err != nil {
		return nil, err
	}
	if got.Type != "success" {
		return nil, fmt.Errorf("%s: %s", method, got.ExceptionDetails.Text)
	}
	return json.RawMessage(got.Result.Value), nil
}

// find looks at elements that may have the role: to walk the whole tree, Firefox repaints the page several
// times for each element that is not in it.
func (f *firefox) find(role, name string) string {
	selector := map[string]string{
		"button": "button", "heading": "h1, h2, h3, [role=heading]", "dialog": "dialog[open]", "status": "[role=status]",
		"textbox": "input, textarea",
	}[role]
	word, _, _ := strings.Cut(name, " ")
	what := map[string]string{"role": role}
	if name != "" {
		what["name"] = name
	}
	for _, node := range f.visible(selector, word) {
		var got struct{ Nodes []struct{ SharedID string } }
		err := f.call("browsingContext.locateNodes", map[string]any{
			"context": f.context, "locator": map[string]any{"type": "accessibility", "value": what},
			"startNodes": []any{map[string]string{"sharedId": node}},
		}, &got)
		if err == nil && len(got.Nodes) > 0 { // else it is not in the tree, or goes with its page
			return got.Nodes[0].SharedID
		}
	}
	return ""
}

// visible returns the elements that match a selector and are drawn, and of those with text the ones that
// have the word.
func (f *firefox) visible(selector, word string) []string {
	var got struct {
		Result struct{ Value []struct{ SharedID string } }
	}
	err := f.call("script.evaluate", map[string]any{
		"expression": fmt.Sprintf(`[...document.querySelectorAll(%q)].filter((e) => e.checkVisibility() &&
			(e.textContent === "" || (e.textContent + e.ariaLabel).includes(%q)))`, selector, word),
		"target": map[string]any{"context": f.context}, "awaitPromise": false,
	}, &got)
	if err != nil {
		return nil // on the way to another page
	}
	var out []string
	for _, n := range got.Result.Value {
		out = append(out, n.SharedID)
	}
	return out
}

func (f *firefox) askOf(node, function string) json.RawMessage {
	f.t.Helper()
	got, err := f.run("script.callFunction", map[string]any{
		"functionDeclaration": fmt.Sprintf("async (e) => JSON.stringify(await (%s)(e) ?? null)", function),
		"arguments":           []any{map[string]string{"sharedId": node}},
	})
	if err != nil {
		f.t.Fatalf("%s: %v", function, err)
	}
	return got
}

// perform has input devices do something.
func (f *firefox) perform(source map[string]any) {
	f.t.Helper()
	f.must("input.performActions", map[string]any{"context": f.context, "actions": []any{source}}, nil)
}

func (f *firefox) strike(key string) {
	f.t.Helper()
	if !sign(key) {
		key = map[string]string{ // https://w3c.github.io/webdriver/#keyboard-actions
			"ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015",
			"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004",
		}[key]
	}
	f.perform(map[string]any{"type": "key", "id": "keyboard", "actions": []any{
		map[string]any{"type": "keyDown", "value": key}, map[string]any{"type": "keyUp", "value": key},
	}})
}

// touch sends real touches, but those of WebDriver do not pan a page in Firefox: what a swipe would scroll is
// scrolled by a script.
func (f *firefox) touch(x, y, toX, toY float64) {
	f.t.Helper()
	move := func(x, y float64) map[string]any {
		return map[string]any{"type": "pointerMove", "x": int(x), "y": int(y)}
	}
	steps := []any{move(x, y), map[string]any{"type": "pointerDown", "button": 0}}
	moves := x != toX || y != toY
	if moves {
		steps = append(steps, move(toX, toY))
	}
	steps = append(steps, map[string]any{"type": "pointerUp", "button": 0})
	f.perform(map[string]any{"type": "pointer", "id": "finger", "parameters": map[string]string{"pointerType": "touch"}, "actions": steps})
	if !moves {
		return
	}
	_, err := f.ask(fmt.Sprintf(`((e) => {
		while (e && e.scrollHeight <= e.clientHeight) e = e.parentElement;
		(e ?? document.scrollingElement).scrollBy({ left: %g, top: %g, behavior: "instant" });
	})(document.elementFromPoint(%g, %g))`, x-toX, y-toY, x, y))
	if err != nil {
		f.t.Fatal(err)
	}
}
