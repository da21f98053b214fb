// Package templates holds the pages of Tiebreak: one exported component and one
// struct of display strings for each. A page formats nothing and calls nothing;
// package web fills the structs. After a change run "go tool templ generate".
package templates

// Layout holds the parts that every page has around its content.
type Layout struct {
	Title   string   // of the page; " · Tiebreak" follows it in the browser's tab
	Scripts []string // modules of the page below Static/js/, its entry first, as static.Modules returns them; nil for none
	Styles  []string // style sheets besides app.css and desk.css, below Static/css/
	Static  string   // base URL of the static files, static.Base(), without a slash at its end
	User    string   // name of who is signed in, shown in the header; empty without a login
	Home    string   // URL behind the name of the program, "/" or "/sessions"
	SignOut string   // URL that signs out when posted to; empty shows no button

	Rehearsal bool // the page is about a session of simulated people

	Problems []Problem // what is wrong with the server; only for researchers
}

// A Problem describes a fault of the server, for researchers.
type Problem struct {
	Reason string // a sentence
	Advice string // what to do, sentences
	Minor  bool   // annotators can go on
}

// A Field is a text field of a form.
type Field struct {
	Value string // what to show in it: a default, or what was sent
	Error string // what is wrong with it and what to do; empty if nothing is

	Default string // what an empty one stands for; empty if that is nothing
}

// A Choice is a form field with fixed options.
type Choice struct {
	Options []Option
	Error   string // as in Field
}

// An Option is one of the options of a Choice.
type Option struct {
	Value    string // what the form sends
	Label    string
	Hint     string // one line of explanation; may be empty
	Selected bool
	Disabled bool // it cannot be chosen, and Hint says why
}

// A Fact is a name with a value, both for people.
type Fact struct {
	Name, Value string
}
