// Package agreement measures how well annotators agree: with one another, and with
// themselves when they are asked again. Its coefficients are checked against published
// worked examples.
package agreement
