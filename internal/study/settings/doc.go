// Package settings is the one table of what a session can be set to: the name of each setting,
// its type, default and range, what it says for people, when it applies, and whether it may
// change later.
//
// The flags of commands, study files, the form of the server, the API and its description, and
// the tables of docs/study.md all come from it, and so do their checks and errors. It does not
// know which environments and strategies there are: packages training and acquisition check
// those.
package settings
