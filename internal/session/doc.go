// Package session runs one session: it chooses queries for annotators, takes in
// their answers, and asks for new candidates in the background.
//
// Requests of annotators and researchers enter, and generations from the trainer. Questions,
// acknowledgements, statements and events leave. One goroutine owns a session. Its journal
// (SQLite, or memory) has the log, from which a session is restored. Package insight reports
// how well it predicts and how fast labelling goes, outcome writes its reward and policies as files,
// journaltest is the contract of journals, and memory is a journal in memory.
//
// It never acknowledges what is not durable, and holds no true reward.
package session
