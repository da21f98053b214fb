// Package session is the room of one session: it chooses queries for annotators, takes in
// their answers, and asks for new candidates in the background.
//
// Requests of annotators and researchers enter, and generations from the trainer; questions,
// acknowledgements, statements and events leave. One goroutine owns a session; its journal
// (SQLite, or memory) has the log, from which a session is made again. Package insight says
// how well it predicts and how fast it goes, outcome writes its reward and policies as files,
// journaltest is the contract of journals, and memory is one in memory.
//
// It never acknowledges what is not durable, and holds no true reward.
package session
