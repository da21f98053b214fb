package loadtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"tiebreak/internal/idrl"
)

// Metrics of the server that are read.
const (
	processorMetric = "process_cpu_seconds_total"
	memoryMetric    = "process_resident_memory_bytes"
)

// maxMetrics is how much of a page of metrics is read, in bytes.
const maxMetrics = 4 << 20

// metrics reads the server's metrics; none if there is no address of them.
func (c Config) metrics(ctx context.Context) (map[string]float64, error) {
	if c.Metrics == "" {
		return nil, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Metrics, nil)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "%q is no address of metrics", c.Metrics)
	}
	res, err := (&http.Client{Timeout: time.Minute}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("read the metrics: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, idrl.Errorf(idrl.Invalid, "the metrics at %s cannot be read: %s", c.Metrics, res.Status)
	}
	m, err := parseMetrics(io.LimitReader(res.Body, maxMetrics))
	if err == nil && (m[processorMetric] == 0 || m[memoryMetric] == 0) {
		err = idrl.Errorf(idrl.Invalid, "at %s there is no %s or no %s: are these the metrics of the server?", c.Metrics, processorMetric, memoryMetric)
	}
	return m, err
}

// parseMetrics reads values without labels in Prometheus' text format.
func parseMetrics(r io.Reader) (map[string]float64, error) {
	out := map[string]float64{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 2 || strings.HasPrefix(f[0], "#") || strings.Contains(f[0], "{") {
			continue
		}
		if v, err := strconv.ParseFloat(f[1], 64); err == nil {
			out[f[0]] = v
		}
	}
	return out, lines.Err()
}

// syncFor is for how long syncs are counted.
const syncFor = time.Second

// syncs returns how many writes of 4 KiB a second a file in a folder takes, each synced to the disk.
func syncs(dir string) (perSecond float64, err error) {
	f, err := os.CreateTemp(dir, "loadtest-*")
	if err != nil {
		return 0, idrl.Errorf(idrl.Invalid, "no file can be written in %s: %v", dir, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // a file of 4 KiB may stay
	defer f.Close()
	block := make([]byte, 4<<10)
	n, began := 0, time.Now()
	for ; n < 3 || time.Since(began) < syncFor; n++ {
		if _, err := f.WriteAt(block, 0); err != nil {
			return 0, fmt.Errorf("write in %s: %w", dir, err)
		}
		if err := f.Sync(); err != nil {
			return 0, fmt.Errorf("sync in %s: %w", dir, err)
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
