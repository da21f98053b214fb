// Package questions reports which questions a session has asked: what of them was to be seen, by
// package measure, whether they could be answered and looked like earlier ones, and what was
// answered, as numbers.
package questions
