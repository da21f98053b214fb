package belief

import (
	"math"
	"testing"
)

// The table of the normal tail is that of the error function, in the tails too, and so is the
// density.
func TestUpper(t *testing.T) {
	for x := -9.0; x <= 9; x += 0.0037 {
		p, density := upper(x)
		want, wantDensity := 0.5*math.Erfc(x/math.Sqrt2), math.Exp(-0.5*x*x-halfLog2Pi)
		if math.Abs(p/want-1) > 1e-9 || math.Abs(density/wantDensity-1) > 1e-9 {
			t.Fatalf("P(z > %v) = %v and density %v, want %v and %v", x, p, density, want, wantDensity)
		}
	}
	if p, density := upper(math.NaN()); !math.IsNaN(p) || !math.IsNaN(density) {
		t.Errorf("P(z > NaN) = %v and density %v", p, density)
	}
	if p, density := upper(math.Inf(-1)); p != 1 || density != 0 {
		t.Errorf("P(z > -Inf) = %v and density %v", p, density)
	}
}
