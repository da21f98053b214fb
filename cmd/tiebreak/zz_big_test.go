package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/insight"
)

func TestZZBig(t *testing.T) {
	dir := os.Getenv("TB_BIG")
	if dir == "" {
		t.Skip()
	}
	name, _ := os.ReadFile(dir + "/session")
	id := idrl.SessionID(strings.TrimSpace(string(name)))
	a, err := openApp(t.Context(), dir, envs.Catalogue, site{}, slog.New(slog.DiscardHandler), "/bin/false", "worker")
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	ctx := context.Background()
	step := func(name string, f func() error) {
		var m0, m1 runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m0)
		began := time.Now()
		peak := make(chan struct{})
		most := uint64(0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-peak:
					return
				case <-time.After(20 * time.Millisecond):
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapAlloc)
				}
			}
		}()
		err := f()
		took := time.Since(began)
		close(peak)
		<-done
		runtime.ReadMemStats(&m1)
		fmt.Printf("%-10s %8.0f ms  alloc %6.0f MB  peak +%6.0f MB  err %v\n", name, took.Seconds()*1000, float64(m1.TotalAlloc-m0.TotalAlloc)/1e6, float64(most)/1e6-float64(m0.HeapAlloc)/1e6, err)
	}
	only := os.Getenv("TB_ONLY")
	do := func(name string, f func() error) {
		if only == "" || strings.Contains(only, name) {
			step(name, f)
		}
	}
	do("quality", func() error { _, err := reports{a}.Quality(ctx, id); return err })
	do("export", func() error {
		spec, err := a.db.Spec(ctx, id)
		if err != nil {
			return err
		}
		spec, err = sessions{a}.Spec(ctx, id)
		if err != nil {
			return err
		}
		return export.Write(io.Discard, "jsonl", spec, export.Counting(func(yield func(export.Row) error) error { return a.db.Rows(ctx, id, yield) }))
	})
	do("load", func() error { _, err := a.db.Load(ctx, id); return err })
	if only != "" && !strings.Contains(only, "session") {
		return
	}
	step("open", func() error { _, err := a.manager.Session(ctx, id); return err })
	s, err := a.manager.Session(ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	step("status", func() error { _, err := s.Status(ctx); return err })
	step("status", func() error { _, err := s.Status(ctx); return err })
	step("insight", func() error { r, err := s.Insight(ctx); fmt.Println(len(r.Forecasts), r.Left); return err })
	step("insight", func() error { _, err := s.Insight(ctx); return err })
	step("questions", func() error {
		_, _, err := s.Questions(ctx, insight.Wanted{N: 6, Best: true})
		return err
	})
	step("questions", func() error {
		_, _, err := s.Questions(ctx, insight.Wanted{N: 6, Best: true, Before: 50000})
		return err
	})
}
