// Package clip turns the scenes of a clip into the bytes that a page's player
// reads, and back.
//
// The bytes are "TBC1" and a raw DEFLATE stream of
//
//	length of the header, uint32 little-endian
//	header, JSON (Header)
//	numbers, int16 little-endian
//
// The numbers are one row a frame: the camera's x and y, then x and y of every
// point of the moving shapes in order. A coordinate is number·Unit. The first
// row is absolute; each later row is the difference to the row before it,
// modulo 2^16. World y points up.
package clip
