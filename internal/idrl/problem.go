package idrl

// A Problem is a reason why a server cannot do all of its work.
type Problem struct {
	Reason string // one line; it names no file
	Advice string // what to do, for researchers
	Minor  bool   // all else works: answers can be given and recorded
}
