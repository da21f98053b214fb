package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"os"
	"testing"

	"tiebreak/internal/idrl"
)

func BenchmarkScratchHash(b *testing.B) {
	dir := os.Getenv("LARGE_DIR")
	text, _ := os.ReadFile(dir + "/session")
	id := idrl.SessionID(text)
	a, addr, stop := serveFrom(b, dir+"/data")
	defer stop()
	base := &url.URL{Scheme: "http", Host: addr, Path: "/sessions/" + string(id) + "/"}
	reader := signIn(b, a, base)
	s := openSession(b, a, id)
	p, _ := s.Posterior(b.Context())
	fmt.Println(p.Seq, p.Posterior.Mean(nil)[:3])
	for _, page := range []string{"charts", "quality", "quality?format=json", "questions", "export?format=jsonl", "export?format=jsonl&all=1", "export?format=csv", "export?format=bundle", "export?format=networks", "export?format=practice", "export?format=flags", "charts/history", "charts/covariance", "charts/times", "charts/rate", "charts/answers", "charts/calibration", "conditions.csv", "/api/v1/nothing"} {
		at, _ := base.Parse(page)
		res, err := reader.Get(at.String())
		if err != nil {
			b.Fatal(err)
		}
		h := sha256.New()
		n, _ := io.Copy(h, res.Body)
		res.Body.Close()
		fmt.Printf("%-28s %d %9d %x\n", page, res.StatusCode, n, h.Sum(nil)[:8])
	}
}
