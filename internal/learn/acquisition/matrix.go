package acquisition

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// whole returns n rounded up to a multiple of 4, the number of rows that
// package blas64 multiplies at a time.
func whole(n int) int { return (n + 3) &^ 3 }

// matrix returns an r×c matrix of zeros, with room behind it for a whole number
// of blocks of rows.
func matrix(r, c int) blas64.General { return matrixIn(nil, r, c) }

// matrixIn returns what matrix does, in the memory of old if that is enough.
func matrixIn(old []float64, r, c int) blas64.General {
	data := sized(old, whole(r)*c)
	clear(data)
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: data}
}

// multiply stores a·x in dst, for a made by matrix and dst with its room. What
// remains of a matrix behind its last whole block would be summed in another
// order, and equal rows would not give equal bits; so it multiplies the room too.
func multiply(dst []float64, a blas64.General, x []float64) {
	if a.Rows == 0 || a.Cols == 0 {
		clear(dst)
		return
	}
	a.Rows = whole(a.Rows)
	blas64.Gemv(blas.NoTrans, 1, a, vector(x), 0, vector(dst))
}

// vector returns x in the form of package blas64.
func vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Inc: 1, Data: x} }

// row returns row i of m.
func row(m blas64.General, i int) []float64 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// block is the number of rows of C that are multiplied with several vectors at a
// time, so that they stay in the cache; a multiple of 4.
const block = 128

// eachProduct calls f with the products of the rows of a, n×d, and those of b,
// k×d, for a block of rows of a from first on at a time: products is k×(rows of
// the block), and f's until it returns. a was made by matrix. It returns the memory it used, old
// if that was enough.
func eachProduct(old []float64, a, b blas64.General, f func(first int, products blas64.General)) []float64 {
	work := matrixIn(old, b.Rows, block)
	for first := 0; first < a.Rows; first += block {
		n := min(block, a.Rows-first)
		rows := blas64.General{Rows: n, Cols: a.Cols, Stride: a.Stride, Data: a.Data[first*a.Stride:]}
		for k := range b.Rows {
			multiply(row(work, k)[:whole(n)], rows, row(b, k))
		}
		products := work
		products.Cols = n
		f(first, products)
	}
	return work.Data
}
