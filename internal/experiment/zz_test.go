package experiment

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/experiment/authors"
)

func TestTry(t *testing.T) {
	spec := os.Getenv("TRY")
	if spec == "" {
		return
	}
	parts := strings.Split(spec, " ") // figure queries mode methods seeds answers expert candidates
	var seeds, answers int
	fmt.Sscan(parts[4], &seeds)
	fmt.Sscan(parts[5], &answers)
	c := Config{Figure: parts[0], Queries: parts[1], Mode: parts[2], Seeds: seeds, FirstSeed: 1, Answers: answers}
	if parts[3] != "-" {
		c.Methods = strings.Split(parts[3], ",")
	}
	if len(parts) > 6 {
		c.Expert = parts[6]
	}
	if len(parts) > 7 {
		c.Candidates = parts[7]
	}
	e, err := c.Validate()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"idrl": "IDRL", "uniform": "Uniform", "igr": "IGR", "eir": "EIR", "epd": "EPD", "mr": "MR", "evr": "EVR"}
	for _, m := range e.Methods {
		e1 := e
		e1.Methods = []string{m}
		t0 := time.Now()
		r, err := Do(context.Background(), e1, Options{Workers: 2, Cache: "/tmp/tbcache"})
		if err != nil {
			t.Fatal(err)
		}
		wall := time.Since(t0)
		var sel, solves, auc float64
		for _, runs := range r.Runs {
			for _, s := range runs[0].SelectNS {
				sel += float64(s)
			}
			solves += float64(runs[0].Solves)
			for _, v := range runs[0].Regret[1:] {
				auc += v
			}
		}
		n := float64(len(r.Runs))
		fmt.Printf("%s %s: wall %v, %.3f ms/select, %.1f solves/run, auc %.4f\n", e1.Name(), m, wall.Round(time.Millisecond), sel/1e6/n/float64(e.Answers), solves/n, auc/n/float64(e.Answers))
		cv, ok := authors.CurveOf(parts[0]+"_"+parts[1], names[m])
		in, tot := 0, 0
		for q := 1; q <= e.Answers; q++ {
			var mean, sq float64
			for _, runs := range r.Runs {
				mean += runs[0].Regret[q] / n
			}
			for _, runs := range r.Runs {
				d := runs[0].Regret[q] - mean
				sq += d * d / n
			}
			se := sqrt(sq / n)
			line := fmt.Sprintf("   %3d  %8.3f ± %6.3f", q, mean, se)
			if ok && q <= len(cv.RegretMean) {
				z := (mean - cv.RegretMean[q-1])
				c := sqrt(se*se + cv.RegretSE[q-1]*cv.RegretSE[q-1])
				tot++
				good := z < 0 && -z <= 2*c || z >= 0 && z <= 2*c || (z < 1e-6 && z > -1e-6)
				if good {
					in++
				}
				line += fmt.Sprintf("   authors %8.3f ± %6.3f  %v", cv.RegretMean[q-1], cv.RegretSE[q-1], good)
			}
			if q <= 5 || q == 10 || q == 20 || q == 50 || q == e.Answers {
				fmt.Println(line)
			}
		}
		if ok {
			fmt.Printf("   inside: %d of %d\n", in, tot)
		}
	}
}

func sqrt(x float64) float64 {
	lo, hi := 0.0, x+1
	for range 200 {
		mid := (lo + hi) / 2
		if mid*mid < x {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
