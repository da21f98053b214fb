// Package numpy reads arrays that NumPy has written in its format .npy.
package numpy
