// Package notice reports what a researcher should know of a session without looking at its pages: that it may stop, that nobody
// answers any more, that answers look wrong, that training fails.
package notice
