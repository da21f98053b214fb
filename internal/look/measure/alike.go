package measure

// Alike reports Pair.Alike of a and b with less work: most clips differ in place or path. The
// errors are those of Compare.
func Alike(a, b *View) (bool, error) {
	if err := checkPair(a, b); err != nil {
		return false, err
	}
	if a.looks != nil {
		return comparePixels(a, b).Alike(), nil
	}
	return alike(a, b, placeApart(a, b)), nil
}

// RatedAlike reports whether a person would give a and b the same rating: they look alike, or the
// robot does not move from its place in both, and the places are not far apart. The errors are
// those of Compare.
func RatedAlike(a, b *View) (bool, error) {
	alike, err := Alike(a, b)
	return alike || err == nil && a.looks == nil && stayTogether(a, b, placeApart(a, b)/max(a.size, b.size)), err
}

// Answerable reports Pair.Answerable of a and b with less work. The errors are those of Compare.
func Answerable(a, b *View) (bool, error) {
	if err := checkPair(a, b); err != nil {
		return false, err
	}
	if a.looks != nil {
		return comparePixels(a, b).Answerable(), nil
	}
	place := placeApart(a, b)
	return something(a, b, place/max(a.size, b.size)) && !alike(a, b, place), nil
}

// SameUseless reports whether both clips show the same, and that is useless in most eyes (drawing.Happening).
func SameUseless(a, b *View) bool { return a.named.Useless && a.named == b.named }

// Repeats reports whether the question about a and b looks like the one about c and d, either way
// round. The errors are those of Compare.
func Repeats(a, b, c, d *View) (bool, error) {
	for _, pairs := range [2][2][2]*View{{{a, c}, {b, d}}, {{a, d}, {b, c}}} {
		same := true
		for _, p := range pairs {
			var err error
			if same, err = Alike(p[0], p[1]); err != nil {
				return false, err
			}
			if !same {
				break
			}
		}
		if same {
			return true, nil
		}
	}
	return false, nil
}

// alike is Pair.Alike of clips that begin at this distance, world units.
func alike(a, b *View, place float64) bool {
	size := max(a.size, b.size)
	switch {
	case !(place/size < AlikePlace):
		return false
	case a.Whirling() && b.Whirling():
		return distance(a.end, b.end)/size < AlikePose
	case onMap(a) && distance(a.end, b.end)/size >= AlikePlace:
		return false
	}
	return pathApart(a.centres, b.centres)/size < AlikePath && poseApart(a.poses, b.poses)/size < AlikePose
}
