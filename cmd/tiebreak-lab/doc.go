// Command tiebreak-lab does research on the method: it repeats the paper's experiments, measures
// query strategies and ways of asking, and makes the libraries and gaits that come with tiebreak.
package main
