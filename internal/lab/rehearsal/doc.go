// Package rehearsal answers the questions of a session in place of a person, through
// the same pages and sockets, by a true reward that it knows; and says what the
// session recommends is worth under that reward. So a study can be tried before people
// take part, and the numbers on a session's page be compared with the truth.
package rehearsal
