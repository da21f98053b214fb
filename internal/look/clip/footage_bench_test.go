package clip

import (
	"image"
	"image/color"
	"testing"
)

// BenchmarkEncodeFootage encodes forty pictures of the size of CartPole's, which are shrunk.
func BenchmarkEncodeFootage(b *testing.B) {
	var all []image.Image
	for i := range 40 {
		all = append(all, square(600, 400, 10*i, color.White))
	}
	b.ReportAllocs()
	for b.Loop() {
		encodeFootage(b, footageOf(all...))
	}
}
