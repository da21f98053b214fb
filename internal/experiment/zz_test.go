package experiment

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

func TestTmp(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("SEEDS"))
	for _, s := range []string{"gridworld", "gridworld-code", "driver"} {
		t0 := time.Now()
		r, err := Run(t.Context(), Config{Setting: s, Seeds: n, Workers: 2}, nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(s, time.Since(t0))
		if err := Write("/tmp/expC2", r); err != nil {
			t.Fatal(err)
		}
		b, _ := markdownForm(r)
		fmt.Println(string(b))
	}
}
