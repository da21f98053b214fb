package agreement_test

import (
	"math"
	"slices"
	"testing"

	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/agreement"
)

// near fails unless got is want up to the digits that were published.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %.5f, want %.5f", what, got, want)
	}
}

// krippendorff is the worked example of Krippendorff (2011), section C and D: four observers and twelve
// units, . is missing.
func krippendorff() (u agreement.Units) {
	for _, row := range []string{"11.1", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", ".555", "..11", ".3.."} {
		var one []agreement.Value
		for k, c := range row {
			if c != '.' {
				one = append(one, agreement.Value{Rater: k, V: float64(c - '0')})
			}
		}
		u = append(u, one)
	}
	return u
}

func TestAlpha(t *testing.T) {
	for m, want := range map[agreement.Metric]float64{agreement.Nominal: 0.743, agreement.Interval: 0.849} {
		got, ok := agreement.Alpha(krippendorff(), m)
		if !ok {
			t.Fatal("it is not defined")
		}
		near(t, "alpha", got, want, 5e-4)
	}
	// The example of section A: two observers, ten units, nominal.
	var two agreement.Units
	a, b := "0100000010", "1110010000"
	for i := range a {
		two = append(two, []agreement.Value{{Rater: 0, V: float64(a[i] - '0')}, {Rater: 1, V: float64(b[i] - '0')}})
	}
	got, _ := agreement.Alpha(two, agreement.Nominal)
	near(t, "alpha of two observers", got, 0.095, 5e-4)
}

// fleiss is the worked example of ten subjects, fourteen raters and five categories: counts.
func fleiss() (u agreement.Units) {
	for _, counts := range [][]int{
		{0, 0, 0, 0, 14},
		{0, 2, 6, 4, 2},
		{0, 0, 3, 5, 6},
		{0, 3, 9, 2, 0},
		{2, 2, 8, 1, 1},
		{7, 7, 0, 0, 0},
		{3, 2, 6, 3, 0},
		{2, 5, 3, 2, 2},
		{6, 5, 2, 1, 0},
		{0, 2, 2, 3, 7},
	} {
		var one []agreement.Value
		for category, n := range counts {
			for range n {
				one = append(one, agreement.Value{Rater: len(one), V: float64(category)})
			}
		}
		u = append(u, one)
	}
	return u
}

func TestFleiss(t *testing.T) {
	got, ok := agreement.Fleiss(fleiss())
	if !ok {
		t.Fatal("it is not defined")
	}
	near(t, "kappa", got, 0.210, 5e-4)
	raw, _ := agreement.Raw(fleiss())
	near(t, "raw agreement", raw, 0.378, 5e-4)
	if _, ok := agreement.Fleiss(krippendorff()); ok {
		t.Error("it is defined where values are missing")
	}
}

// cohen is a table of two raters: 20 both yes, 5 and 10 apart, 15 both no.
func cohen() (u agreement.Units) {
	for _, cell := range []struct{ a, b, n int }{{1, 1, 20}, {1, 0, 5}, {0, 1, 10}, {0, 0, 15}} {
		for range cell.n {
			u = append(u, []agreement.Value{{Rater: 3, V: float64(cell.a)}, {Rater: 7, V: float64(cell.b)}})
		}
	}
	return u
}

func TestCohen(t *testing.T) {
	got, n, ok := agreement.Cohen(cohen(), 3, 7)
	if !ok || n != 50 {
		t.Fatalf("over %d units, defined %t", n, ok)
	}
	near(t, "kappa", got, 0.4, 1e-12)
	if _, n, ok := agreement.Cohen(cohen(), 3, 4); ok || n != 0 {
		t.Error("it is defined for somebody who judged nothing")
	}
	same := agreement.Units{{{Rater: 0, V: 1}, {Rater: 1, V: 1}}, {{Rater: 0, V: 1}, {Rater: 1, V: 1}}}
	if _, _, ok := agreement.Cohen(same, 0, 1); ok {
		t.Error("it is defined where all said the same of everything")
	}
}

// For two raters without missing values, and many units, alpha and Fleiss' kappa agree up
// to the correction for small samples.
func TestCoefficientsAgree(t *testing.T) {
	alpha, _ := agreement.Alpha(cohen(), agreement.Nominal)
	kappa, _ := agreement.Fleiss(cohen())
	near(t, "alpha", alpha, kappa+(1-kappa)/100, 1e-12)
}

// The interval covers the truth in about 95 of 100 samples: raters that are right with
// probability 0.9 about one of two categories agree with probability 0.82.
func TestBootstrapCovers(t *testing.T) {
	covered, trials := 0, 300
	for k := range trials {
		stream := rng.New(1, "raters", uint64(k))
		var u agreement.Units
		for range 60 {
			truth := float64(stream.IntN(2))
			var one []agreement.Value
			for r := range 2 {
				v := truth
				if stream.Float64() < 0.1 {
					v = 1 - truth
				}
				one = append(one, agreement.Value{Rater: r, V: v})
			}
			u = append(u, one)
		}
		low, high, ok := agreement.Bootstrap(u, rng.New(2, "bootstrap", uint64(k)), agreement.Raw)
		if !ok {
			t.Fatal("it is not defined")
		}
		if low <= 0.82 && 0.82 <= high {
			covered++
		}
	}
	if share := float64(covered) / float64(trials); share < 0.91 || share > 0.98 { // 3 standard errors around 0.95
		t.Errorf("%.3f of the intervals hold the truth, want 0.95", share)
	}
}

// Answers are arranged by what they say of the clips, not by sides; what says nothing is
// missing; a second answer of the same person is a repeat.
func TestArrange(t *testing.T) {
	answer := func(id, who, q string, c idrl.Choice) idrl.Answer {
		return idrl.Answer{ID: idrl.AnswerID(id), Annotator: idrl.AnnotatorID(who), Query: idrl.QueryID(q), Choice: c, Assignment: idrl.AssignmentID(id)}
	}
	got := agreement.Arrange([]idrl.Answer{
		answer("1", "ann", "q1", idrl.ChoseA), answer("2", "bob", "q1", idrl.ChoseB), answer("3", "ann", "q2", idrl.CantTell),
		answer("4", "bob", "q2", idrl.Equal), answer("5", "ann", "q1", idrl.ChoseB), answer("6", "ann", "q2", idrl.Equal),
		{ID: "7", Annotator: "bob", Undoes: "2"},
	}, nil)
	if len(got.Raters) != 2 || got.Rated || len(got.Units) != 2 || len(got.Units[0]) != 1 || len(got.Units[1]) != 2 {
		t.Fatalf("arranged as %+v", got)
	}
	if raw, ok := agreement.Raw(got.Units); !ok || raw != 1 {
		t.Errorf("agreement %v, %t; ann and bob said equal to the one question that both answered", raw, ok)
	}
	if again, ok := agreement.Raw(got.Again[0]); !ok || again != 0 {
		t.Errorf("ann's agreement with herself is %v, %t; she said a and then b", again, ok)
	}
}

// If a question is asked with its clips in the other order, answers a and b change places.
func TestArrangeTurned(t *testing.T) {
	first, other := idrl.NewComparison(idrl.Clip{ID: "c1"}, idrl.Clip{ID: "c2"}), idrl.NewComparison(idrl.Clip{ID: "c2"}, idrl.Clip{ID: "c1"})
	if first.ID != other.ID || first.Turned() || !other.Turned() || idrl.NewRating(idrl.Clip{ID: "c2"}).Turned() {
		t.Fatal("a pair is one question, in two orders")
	}
	answer := func(as, who string, c idrl.Choice) idrl.Answer {
		return idrl.Answer{ID: idrl.AnswerID(as), Annotator: idrl.AnnotatorID(who), Query: first.ID, Choice: c, Assignment: idrl.AssignmentID(as)}
	}
	got := agreement.Arrange([]idrl.Answer{
		answer("1", "ann", idrl.ChoseA), answer("2", "bob", idrl.ChoseB), answer("3", "ann", idrl.ChoseB), answer("4", "eve", idrl.ChoseA),
	}, map[idrl.AssignmentID]bool{"2": true, "3": true, "4": true})
	if raw, ok := agreement.Raw(got.Units); !ok || math.Abs(raw-1./3) > 1e-15 {
		t.Errorf("agreement %v, %t; ann and bob prefer c1, eve c2", raw, ok)
	}
	if again, ok := agreement.Raw(got.Again[0]); !ok || again != 1 {
		t.Errorf("ann's agreement with herself is %v, %t; she prefers c1 twice", again, ok)
	}
}

// Cohen's κ is the same number each time, to the last bit.
func TestCohenIsRepeatable(t *testing.T) {
	stream := rng.New(5, "table", 0)
	for table := range 50 {
		var u agreement.Units
		for range 60 {
			u = append(u, []agreement.Value{{Rater: 0, V: float64(stream.IntN(7))}, {Rater: 1, V: float64(stream.IntN(7))}})
		}
		first, _, _ := agreement.Cohen(u, 0, 1)
		for range 40 {
			if again, _, _ := agreement.Cohen(u, 0, 1); again != first {
				t.Fatalf("table %d: %v and %v", table, first, again)
			}
		}
	}
}

// Coefficients of categories copy nothing of the units, of which a bootstrap draws many sets.
func TestCoefficientsTakeNoMemory(t *testing.T) {
	units := slices.Repeat(cohen(), 20)
	for name, of := range map[string]func(agreement.Units) (float64, bool){
		"raw": agreement.Raw, "kappa": agreement.Fleiss,
		"alpha": func(u agreement.Units) (float64, bool) { return agreement.Alpha(u, agreement.Nominal) },
	} {
		if n := testing.AllocsPerRun(10, func() { of(units) }); n > 10 { // counts of two categories, and what iterates
			t.Errorf("%s of %d units allocates %v times", name, len(units), n)
		}
	}
}
