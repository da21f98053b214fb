package main

import "unicode/utf8"

// keyboard is a hand that only types.
type keyboard struct{}

func (keyboard) input() string { return "keyboard" }

func (k keyboard) use(p *passage, c control) {
	p.t.Helper()
	if c.key == "" {
		k.focus(p, c)
		c.key = "Enter"
	}
	p.w.strike(c.key)
}

func (k keyboard) write(p *passage, c control, text string) {
	p.t.Helper()
	k.focus(p, c)
	for _, r := range text {
		p.w.strike(string(r))
	}
}

// focus goes to a control by Tab.
func (keyboard) focus(p *passage, c control) {
	p.t.Helper()
	node := p.node(c)
	for range 80 {
		if decoded[bool](p, p.w.askOf(node, "(e) => e === document.activeElement")) {
			return
		}
		p.w.strike("Tab")
	}
	p.t.Fatalf("Tab does not lead to the %s %q", c.role, c.name)
}

// finger is a hand that only touches the screen.
type finger struct{}

func (finger) input() string { return "touch" }

func (f finger) use(p *passage, c control) {
	p.t.Helper()
	x, y := f.reach(p, c)
	p.w.touch(x, y, x, y)
}

// write leaves the field empty: keyboards on screens are not part of the page.
func (finger) write(p *passage, c control, _ string) {
	p.t.Helper()
	p.node(c)
}

// A place is where a control lies in the view.
type place struct {
	X, Y, Width, Height float64 // of the view
	Reached             bool    // its middle, X and Y, is in view, with nothing over it
	Moving              bool
}

// reach scrolls by swiping until a control is in view, and returns its middle.
func (finger) reach(p *passage, c control) (x, y float64) {
	p.t.Helper()
	node := p.node(c)
	for range 300 {
		at := decoded[place](p, p.w.askOf(node, `async (e) => {
			const before = e.getBoundingClientRect().top;
			await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
			const r = e.getBoundingClientRect(), X = r.left + r.width / 2, Y = r.top + r.height / 2;
			return { X, Y, Width: innerWidth, Height: innerHeight, Reached: e.contains(document.elementFromPoint(X, Y)), Moving: r.top !== before };
		}`))
		switch {
		case at.Moving: // a touch would only stop it
			continue
		case at.Reached:
			return at.X, at.Y
		}
		by := min(max(at.Height/2-at.Y, -at.Height/3), at.Height/3) // content follows the finger
		p.w.touch(at.Width/2, at.Height/2-by/2, at.Width/2, at.Height/2+by/2)
	}
	p.t.Fatalf("no swipe leads to the %s %q", c.role, c.name)
	return 0, 0
}

// reader is a hand that knows the accessibility tree only, as a screen reader does.
type reader struct{}

// Pages cannot tell what is done through the tree from a key on a button.
func (reader) input() string { return "keyboard" }

// use does what pressing a control in the tree does.
func (reader) use(p *passage, c control) {
	p.t.Helper()
	p.w.askOf(p.node(c), "(e) => e.click()")
}

// write types in a field that the tree has led to.
func (reader) write(p *passage, c control, text string) {
	p.t.Helper()
	p.w.askOf(p.node(c), "(e) => e.focus()")
	for _, r := range text {
		p.w.strike(string(r))
	}
}

// sign reports whether a key is a sign that is typed, not the name of a key.
func sign(key string) bool { return utf8.RuneCountInString(key) == 1 }
