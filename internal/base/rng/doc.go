// Package rng derives independent random streams from one seed.
package rng
