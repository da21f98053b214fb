package drawing

// A Marker is an Environment whose clips have marks on the ground, by which a person sees how far
// it goes.
type Marker interface {
	// Marks returns shapes that do not move, for a clip of these snapshots, of which there are at
	// least two. They show distances from where the clip begins, so that they do not tell places in
	// the world apart. A Checker among them takes the place of the one that Draw draws. The
	// environment may be left in another state.
	Marks(states [][]float64) []Shape
}
