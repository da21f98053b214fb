package idrl

// A Problem is why a server cannot do all of its work.
type Problem struct {
	Reason string // one line, for everybody: it names no file
	Advice string // what to do, for researchers
	Minor  bool   // all else goes on: answers can be given and recorded
}
