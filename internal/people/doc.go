// Package people is the room of who takes part and how they answer.
//
// Links, cookies and answers enter; rights (auth), how somebody answers and how well people
// agree with themselves and with one another (quality, agreement), and the strengths of an
// arena's entrants (bradley) leave, each with its interval.
//
// It never decides which question comes next, and shows nobody another's answers.
package people
