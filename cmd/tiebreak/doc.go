// Command tiebreak asks people which behaviour they prefer and learns the
// reward behind their answers with as few questions as possible.
package main
