package film

import "image"

// Size returns width and height in pixels, both even.
func (f *Film) Size() image.Point { return f.size }
