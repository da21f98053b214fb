// Package behaviour gives policies of several classes one form: a list of numbers whose first is
// the class, so that one library can store them and they can be made again from their numbers
// alone.
package behaviour
