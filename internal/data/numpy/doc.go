// Package numpy reads arrays that NumPy has written: files in its format .npy, and pickles of arrays
// and of lists of numbers, of which nothing is executed.
package numpy
