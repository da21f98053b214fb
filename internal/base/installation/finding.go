package installation

// State is how much a finding matters.
type State string

// States, the worst first.
const (
	Missing State = "missing" // people should not be invited before it is there
	LookAt  State = "look at" // may be meant so, or cannot be known from here
	OK      State = "ok"
)

// States returns all states, the worst first.
func States() []State { return []State{Missing, LookAt, OK} }

// A Finding is what one check has found.
type Finding struct {
	Name    string `json:"name"` // "address"
	State   State  `json:"state"`
	Says    string `json:"says"`              // a sentence
	Do      string `json:"do,omitempty"`      // a sentence; empty if there is nothing to do
	Command string `json:"command,omitempty"` // that does it; empty if none does
}

// Count returns how many findings have a state.
func Count(list []Finding, s State) (n int) {
	for _, f := range list {
		if f.State == s {
			n++
		}
	}
	return n
}

// An OptOut is a flag, or another condition, that makes a server or what a command writes less safe.
type OptOut struct {
	Flag    string `json:"flag"`    // as it is given: "--metrics-anywhere"
	Opens   string `json:"opens"`   // a sentence: what it lets others do, or what may be lost
	Instead string `json:"instead"` // a sentence: what is safer
}

// Warning returns the warning about an opt-out that is in use.
func (o OptOut) Warning() string { return o.Flag + " is in use. " + o.Opens + " " + o.Instead }
