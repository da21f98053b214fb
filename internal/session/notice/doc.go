// Package notice tells a researcher, who need not look at the pages of a session, that it may stop, that answers have ceased,
// that answers look wrong, or that training fails.
package notice
