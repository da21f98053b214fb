package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestBrowserHands does everything that annotators do in Chromium, by keyboard alone, by touch alone, and by
// what the accessibility tree says.
func TestBrowserHands(t *testing.T) {
	t.Parallel()
	browser := startBrowserOf(t, wholeBrowsers) // as annotators have it
	t.Run("keyboard", func(t *testing.T) { goesThrough(t, chromium{newPerson(t, browser)}, keyboard{}) })
	t.Run("touch", func(t *testing.T) {
		b := newPerson(t, browser)
		b.phone()
		goesThrough(t, chromium{b}, finger{})
	})
	t.Run("tree", func(t *testing.T) { goesThrough(t, chromium{newPerson(t, browser)}, reader{}) })
}

// chromium is a surface of Chromium. Nodes are objects of its protocol.
type chromium struct{ *tab }

// call calls a command of the protocol.
func call[P, R any](c chromium, command cdp.Command[P, R], params P) R {
	c.t.Helper()
	got, err := chromedp.Call(c.ctx, command, params)
	if err != nil {
		c.fatalf("%s: %v", command.Method, err)
	}
	return got
}

func (c chromium) ask(expression string) (json.RawMessage, error) {
	text, err := chromedp.Run(c.ctx, chromedp.Evaluate[string](asJSON(expression), chromedp.EvalAwaitPromise))
	return json.RawMessage(text), err
}

// asJSON makes an expression one for the JSON of its value.
func asJSON(expression string) string {
	return fmt.Sprintf("Promise.resolve(%s).then((v) => JSON.stringify(v ?? null))", expression)
}

func (c chromium) find(role, name string) string {
	root, err := chromedp.Run(c.ctx, chromedp.Evaluate[*runtime.RemoteObject]("document"))
	if err != nil {
		return "" // on the way to another page
	}
	got, err := chromedp.Call(c.ctx, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{ObjectID: root.ObjectID, Role: role, AccessibleName: name})
	if err != nil {
		return ""
	}
	for _, n := range got.Nodes {
		if n.Ignored {
			continue
		}
		r, err := chromedp.Call(c.ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: n.BackendDOMNodeID})
		if err == nil {
			return string(r.Object.ObjectID)
		}
	}
	return ""
}

func (c chromium) askOf(node, function string) json.RawMessage {
	c.t.Helper()
	await := true
	got := call(c, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: fmt.Sprintf("async function() { return JSON.stringify(await (%s)(this) ?? null) }", function),
		ObjectID:            runtime.RemoteObjectID(node),
		AwaitPromise:        &await,
	})
	if got.ExceptionDetails != nil {
		c.fatalf("%s: %s", function, got.ExceptionDetails.Text)
	}
	var text string
	if err := json.Unmarshal(got.Result.Value, &text); err != nil {
		c.fatalf("%s: %v", function, err)
	}
	return json.RawMessage(text)
}

func (c chromium) strike(key string) {
	c.t.Helper()
	if !sign(key) {
		key = map[string]string{
			"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown,
			"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab,
		}[key]
	}
	c.press(key)
}

func (c chromium) touch(x, y, toX, toY float64) {
	c.t.Helper()
	put := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) {
		call(c, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, points...)})
	}
	at := func(x, y float64) *input.TouchPoint { return &input.TouchPoint{X: x, Y: y} }
	put(input.DispatchTouchEventTypeTouchStart, at(x, y))
	const steps = 8
	for i := 1.0; i <= steps && (x != toX || y != toY); i++ {
		put(input.DispatchTouchEventTypeTouchMove, at(x+(toX-x)*i/steps, y+(toY-y)*i/steps))
	}
	put(input.DispatchTouchEventTypeTouchEnd)
}
