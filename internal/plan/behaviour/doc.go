// Package behaviour gives policies of several classes one form: a list of numbers whose
// first says the class, so that they can be kept in one library and be made again from
// their numbers alone.
package behaviour
