package drawing

// A Part is a part of a picture: left, top, right and bottom, as shares of its width and height.
type Part [4]float64

// Whole is all of a picture.
func Whole() Part { return Part{0, 0, 1, 1} }

// Around returns the smallest part that has p and q in it. The zero Part has nothing in it.
func (p Part) Around(q Part) Part {
	switch (Part{}) {
	case p:
		return q
	case q:
		return p
	}
	return Part{min(p[0], q[0]), min(p[1], q[1]), max(p[2], q[2]), max(p[3], q[3])}
}

// Valid reports whether p lies within a picture and has something in it.
func (p Part) Valid() bool {
	return 0 <= p[0] && p[0] < p[2] && p[2] <= 1 && 0 <= p[1] && p[1] < p[3] && p[3] <= 1
}
