package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/base/record"
	"tiebreak/internal/base/tally"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/jobs"
	"tiebreak/store"
)

// A metric is one name of the metrics of a server.
type metric struct {
	name, help string
	labels     []string
	counts     bool // it only grows while the server runs
	read       func(context.Context, emit) error
	sizes      *tally.Histogram // instead of read
}

// emit takes a value of a metric, with its labels.
type emit func(v float64, labels ...string)

// metrics returns the metrics of a server. docs/operating.md lists them.
func (a *app) metrics() []metric {
	is := func(v func() float64) func(context.Context, emit) error {
		return func(_ context.Context, e emit) error { e(v()); return nil }
	}
	done := a.web.Counts()
	list := []metric{
		{name: "answers_acknowledged_total", help: "Answers that are recorded and acknowledged; replay: they were recorded before, and sent again.", labels: []string{"replay"}, counts: true, read: func(_ context.Context, e emit) error {
			e(float64(done.New.Load()), "false")
			e(float64(done.Replayed.Load()), "true")
			return nil
		}},
		{name: "acknowledge_seconds", help: "Time from reading an answer to its acknowledgement.", sizes: done.Seconds},
		{name: "commit_batch_size", help: "Writes in one transaction of the database; one write may hold up to 64 answers of a session.", sizes: a.db.TransactionSizes()},
		{name: "writer_queue_depth", help: "Writes that wait for the writer of the database.", read: is(func() float64 { return float64(a.db.WritesWaiting()) })},
		{name: "wal_bytes", help: "Size of the write-ahead log of the database.", read: is(func() float64 { return float64(a.db.LogBytes()) })},
		{name: "leases_expired_total", help: "Questions whose reservation ended before they were answered. They are noticed when somebody uses the session again.", counts: true, read: is(func() float64 { return float64(a.expired.Load()) })},
		{name: "sockets_open", help: "Open websockets of annotators and researchers.", read: is(func() float64 { return float64(a.web.Sockets()) })},
		{name: "slow_clients_disconnected_total", help: "Websockets that ended because the client took no message for 10 seconds.", counts: true, read: is(func() float64 { return float64(done.Slow.Load()) })},
		{name: "messages_dropped_total", help: "Messages that waited for a client when its connection broke; it reads the whole state when it connects again.", counts: true, read: is(func() float64 { return float64(done.Dropped.Load()) })},
		{name: "jobs", help: "Recorded trainings and fits by state: queued, running, done, failed.", labels: []string{"state"}, read: a.readJobs},
		{name: "job_heartbeat_age_seconds", help: "Time since the last recorded sign of life of the running job that is silent for longest; 0 if none runs.", read: a.readHeartbeat},
		{name: "workers", help: "Jobs that can be done at a time: here, by processes of the server's machine, and elsewhere, by workers that have joined.", labels: []string{"place"}, read: a.readWorkers},
		{name: "workers_busy", help: "Jobs that are being done here and elsewhere.", labels: []string{"place"}, read: a.readBusy},
		{name: "build_info", help: "Always 1, with the version of the program and the format of its database.", labels: []string{"version", "format"}, read: func(_ context.Context, e emit) error {
			e(1, shared.BuildVersion(), strconv.FormatInt(store.Format(), 10))
			return nil
		}},
		{name: "ready", help: "1 while answers can be recorded, as GET /readyz says; else 0.", read: func(ctx context.Context, e emit) error {
			e(map[bool]float64{true: 1}[a.web.Unready(ctx) == ""])
			return nil
		}},
	}
	if _, known := a.db.FreeBytes(); known {
		list = append(list, metric{name: "disk_free_bytes", help: "Free space on the disk of the data folder.", read: is(func() float64 {
			free, _ := a.db.FreeBytes()
			return float64(free)
		})})
	}
	if a.backedUp != nil {
		list = append(list, metric{name: "backup_age_seconds", help: "Time since the last backup that is whole; absent if there is none.", read: a.readBackup})
	}
	return list
}

func (a *app) readJobs(ctx context.Context, e emit) error {
	n, _, err := a.db.JobCounts(ctx)
	for state, count := range n {
		e(float64(count), string(state))
	}
	return err
}

func (a *app) readHeartbeat(ctx context.Context, e emit) error {
	_, lease, err := a.db.JobCounts(ctx)
	if err != nil {
		return err
	}
	age := 0.0
	if !lease.IsZero() {
		age = max(time.Since(lease.Add(-jobs.Config{}.Lease())).Seconds(), 0)
	}
	e(age)
	return nil
}

func (a *app) readWorkers(_ context.Context, e emit) error {
	slots := 0
	for _, w := range a.workersNow().Workers {
		slots += w.Slots
	}
	e(float64(a.pool.Here()), "here")
	e(float64(slots), "elsewhere")
	return nil
}

func (a *app) readBusy(_ context.Context, e emit) error {
	r, away := a.workersNow(), 0
	for _, w := range r.Workers {
		away += len(w.Doing)
	}
	e(float64(len(r.Here)), "here")
	e(float64(away), "elsewhere")
	return nil
}

// workersNow returns what workers do, without the titles of sessions.
func (a *app) workersNow() record.WorkerReport {
	return elsewhere.Reporter{Hub: a.away.known(), Pool: a.pool, Title: func(idrl.SessionID) string { return "" }}.Report(nil)
}

func (a *app) readBackup(ctx context.Context, e emit) error {
	at, err := a.backedUp(ctx)
	if err == nil && !at.IsZero() {
		e(time.Since(at).Seconds())
	}
	return err
}

// metricPrefix begins the names of the server's own metrics.
const metricPrefix = "tiebreak_"

// A metricReader collects metrics for Prometheus.
type metricReader struct {
	list  []metric
	descs []*prometheus.Desc // of each of list
}

func newMetricReader(list []metric) metricReader {
	r := metricReader{list: list}
	for _, m := range list {
		r.descs = append(r.descs, prometheus.NewDesc(metricPrefix+m.name, m.help, m.labels, nil))
	}
	return r
}

// Describe implements prometheus.Collector.
func (r metricReader) Describe(out chan<- *prometheus.Desc) {
	for _, d := range r.descs {
		out <- d
	}
}

// readWait is how long the reading of all metrics may take.
const readWait = 10 * time.Second

// Collect implements prometheus.Collector.
func (r metricReader) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readWait)
	defer cancel()
	for k, m := range r.list {
		d := r.descs[k]
		if m.sizes != nil {
			n, sum, upTo := m.sizes.Counts()
			out <- prometheus.MustNewConstHistogram(d, n, sum, upTo)
			continue
		}
		kind := prometheus.GaugeValue
		if m.counts {
			kind = prometheus.CounterValue
		}
		if err := m.read(ctx, func(v float64, labels ...string) { out <- prometheus.MustNewConstMetric(d, kind, v, labels...) }); err != nil {
			out <- prometheus.NewInvalidMetric(d, err)
		}
	}
}

// sight returns what the second listener of a server serves: metrics and profiles. Unless it is for anywhere, it answers only
// requests that name this machine, so that pages of other sites cannot read it through a name that leads here.
func (a *app) sight(anywhere bool) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newMetricReader(a.metrics()), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 4,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelError),
	}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "/metrics       for Prometheus\n/debug/pprof/  profiles of the program\n")
	})
	if anywhere {
		return mux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil || !thisMachine(host) {
			http.Error(w, "This address is for programs on this machine; ask by 127.0.0.1 or localhost.", http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// thisMachine reports whether a host is a loopback address, or localhost.
func thisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// listenForMetrics opens the second listener; nil if addr is empty.
func listenForMetrics(ctx context.Context, addr string, anywhere bool) (net.Listener, error) {
	if addr == "" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: --metrics must be host:port, such as 127.0.0.1:9090; got %q", errUsage, addr)
	}
	if !anywhere && !thisMachine(host) {
		return nil, fmt.Errorf("%w: --metrics %s can be reached from other machines: metrics and profiles have no password, and profiles show what is in memory.\n"+
			"Give an address of this machine, such as 127.0.0.1:9090, or --metrics-anywhere if the network keeps strangers away", errUsage, addr)
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "cannot listen on %s for metrics: %v; give another --metrics", addr, err)
	}
	return ln, nil
}

// serveSight serves metrics and profiles until stop is called; nothing if ln is nil.
func (a *app) serveSight(ln net.Listener, anywhere bool) (stop func() error) {
	if ln == nil {
		return func() error { return nil }
	}
	srv := &http.Server{Handler: a.sight(anywhere), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute} // no WriteTimeout: a profile takes as long as was asked for
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ln) }()
	return func() error {
		err := srv.Close()
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
		return err
	}
}
