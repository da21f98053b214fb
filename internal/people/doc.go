// Package people is the room of the people who take part and of statistics of their answers.
//
// Links, cookies and answers enter. Rights (auth), statistics of annotators, their agreement
// with themselves and with one another (quality, agreement), and the strengths of an arena's
// entrants (bradley) leave, each statistic with its interval.
//
// It never chooses a question, and never shows an annotator the answers of another.
package people
