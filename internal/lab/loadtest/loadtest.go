package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// A Config says what load to put on a server. Link is required.
type Config struct {
	Link       string        // of annotators, with enough uses
	Annotators int           // default 16
	Answers    int           // of each annotator; 0: for as long as For
	For        time.Duration // how long to answer, if Answers is 0; default 10 s
	Think      time.Duration // before an answer, on average
	Seed       uint64        // of the ids of answers
	Idle       int           // sockets that say hello and then nothing, opened after the answers
	Metrics    string        // address of the server's metrics in Prometheus' text format; empty: none
	Dir        string        // folder on the disk whose syncs are measured; empty: none
	Say        func(string)  // progress, for people; may be nil
}

// A Report is what was measured. Times are in milliseconds.
type Report struct {
	Annotators int     `json:"annotators"`
	Answers    int     `json:"answers"` // acknowledged, but for each annotator's first
	Seconds    float64 `json:"seconds"` // of answering
	PerSecond  float64 `json:"answers_per_second"`
	P50        float64 `json:"p50_ms"` // from sending an answer to its acknowledgement
	P99        float64 `json:"p99_ms"`
	Max        float64 `json:"max_ms"`
	Lost       int     `json:"lost"` // annotators whose socket broke, or who got no question
	FirstError string  `json:"first_error,omitempty"`

	SyncsPerSecond float64 `json:"syncs_per_second,omitempty"`  // of a file in Dir, one write of 4 KiB each, before the load
	CPU            float64 `json:"cpu_ms_per_answer,omitempty"` // of the server's process
	Idle           []Step  `json:"idle,omitempty"`
}

// A Step is a number of idle sockets.
type Step struct {
	Sockets   int     `json:"sockets"`
	Resident  int64   `json:"resident_bytes,omitempty"`   // of the server's process; 0 without metrics
	PerSocket float64 `json:"bytes_per_socket,omitempty"` // what each has added since the first measurement
}

// tabsOfOne is how many idle sockets an annotator opens: one fewer than a server lets one have.
const tabsOfOne = 15

// openedAtOnce is how many sockets are being opened at a time.
const openedAtOnce = 32

// stepsOfIdle is in how many steps idle sockets are opened.
const stepsOfIdle = 5

// Run joins, answers and measures. It returns an error if nobody could join, or nothing was answered.
func Run(ctx context.Context, c Config) (Report, error) {
	c.Annotators, c.For = cmp.Or(c.Annotators, 16), cmp.Or(c.For, 10*time.Second)
	if c.Say == nil {
		c.Say = func(string) {}
	}
	r := Report{Annotators: c.Annotators}
	var err error
	if c.Dir != "" {
		if r.SyncsPerSecond, err = syncs(c.Dir); err != nil {
			return r, err
		}
	}
	all, err := c.join(ctx)
	defer closeAll(all)
	if err != nil {
		return r, err
	}
	before, err := c.metrics(ctx)
	if err != nil {
		return r, err
	}
	c.Say("All have joined and had an answer acknowledged.")
	began := time.Now()
	r.label(ctx, c, all)
	r.Seconds = time.Since(began).Seconds()
	if err := r.times(all); err != nil {
		return r, err
	}
	after, err := c.metrics(ctx)
	if err != nil {
		return r, err
	}
	if c.Metrics != "" {
		r.CPU = 1000 * (after[processorMetric] - before[processorMetric]) / float64(r.Answers)
	}
	r.Idle, err = c.idle(ctx, all)
	return r, err
}

// join has all annotators join, and answer once.
func (c Config) join(ctx context.Context) ([]*Labeller, error) {
	all, errs := make([]*Labeller, c.Annotators), make([]error, c.Annotators)
	var wg sync.WaitGroup
	atOnce := make(chan struct{}, openedAtOnce)
	for i := range all {
		wg.Go(func() {
			atOnce <- struct{}{}
			conn, err := client.Dial(ctx, c.Link)
			<-atOnce
			if err == nil {
				all[i] = New(conn, c.Seed+uint64(i))
				all[i].Listen()
				err = all[i].Label(1)
				all[i].Think = c.Think
			}
			if err != nil {
				errs[i] = fmt.Errorf("annotator %d joins: %w", i+1, err)
			}
		})
	}
	wg.Wait()
	return all, cmp.Or(errs...)
}

func closeAll(all []*Labeller) {
	for _, l := range all {
		if l != nil {
			_ = l.Conn.Close()
		}
	}
}

// label has all answer until they have given what is asked, and counts those who cannot.
func (r *Report) label(ctx context.Context, c Config, all []*Labeller) {
	end := time.Now().Add(c.For)
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, l := range all {
		wg.Go(func() {
			for errs[i] == nil && ctx.Err() == nil {
				if n := len(l.Acked) - 1; c.Answers > 0 && n >= c.Answers || c.Answers == 0 && time.Now().After(end) {
					return
				}
				errs[i] = l.GoOn(len(l.Acked) + 1)
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			r.Lost++
			r.FirstError = cmp.Or(r.FirstError, err.Error())
		}
	}
}

// times sets what the waits of all tell, but for each annotator's first.
func (r *Report) times(all []*Labeller) error {
	var waits []time.Duration
	for _, l := range all {
		waits = append(waits, l.Waits[min(1, len(l.Waits)):]...)
	}
	if len(waits) == 0 {
		return idrl.Errorf(idrl.Invalid, "nothing was answered; the session may have all the answers that it wants. %s", r.FirstError)
	}
	slices.Sort(waits)
	ms := func(q float64) float64 {
		return float64(waits[int(math.Ceil(q*float64(len(waits))))-1].Microseconds()) / 1000
	}
	r.Answers, r.PerSecond = len(waits), float64(len(waits))/r.Seconds
	r.P50, r.P99, r.Max = ms(0.5), ms(0.99), ms(1)
	return nil
}

// idle opens sockets in steps, each of which stays open and silent until all are counted.
func (c Config) idle(ctx context.Context, all []*Labeller) (out []Step, err error) {
	if c.Idle == 0 {
		return nil, nil
	}
	atOnce := make(chan struct{}, openedAtOnce)
	var mu sync.Mutex
	var open []*client.Conn
	defer func() {
		for _, tab := range open {
			_ = tab.Close()
		}
	}()
	measure := func() error {
		m, err := c.metrics(ctx)
		s := Step{Sockets: len(open), Resident: int64(m[memoryMetric])}
		if len(out) > 0 && s.Resident > 0 && s.Sockets > 0 {
			s.PerSocket = float64(s.Resident-out[0].Resident) / float64(s.Sockets)
		}
		out = append(out, s)
		return err
	}
	if err := measure(); err != nil {
		return out, err
	}
	if most := len(all) * tabsOfOne; c.Idle > most {
		return out, idrl.Errorf(idrl.Invalid, "%d annotators can have %d idle sockets; give --annotators %d", len(all), most, (c.Idle+tabsOfOne-1)/tabsOfOne)
	}
	for k := range stepsOfIdle {
		upTo := c.Idle * (k + 1) / stepsOfIdle
		var wg sync.WaitGroup
		var errs []error
		var failed atomic.Bool
		for n := len(open); n < upTo && !failed.Load(); n++ {
			of := all[n%len(all)].Conn
			atOnce <- struct{}{}
			wg.Go(func() {
				defer func() { <-atOnce }()
				tab, err := openTab(ctx, of)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed.Store(true)
					errs = append(errs, fmt.Errorf("open an idle socket: %w", err))
					return
				}
				open = append(open, tab)
			})
		}
		wg.Wait()
		if err := errors.Join(cmp.Or(errs...), measure()); err != nil {
			return out, err
		}
		c.Say(fmt.Sprintf("%d idle sockets are open.", len(open)))
	}
	return out, nil
}

// openTab opens a socket of an annotator that says hello, and waits until the server has told it all.
func openTab(ctx context.Context, of *client.Conn) (*client.Conn, error) {
	tab, err := of.Tab(ctx)
	if err != nil {
		return nil, err
	}
	err = tab.Send(&wire.ClientHello{})
	for end := time.Now().Add(Wait); err == nil; {
		var m wire.FromServer
		m, err = tab.RecvBy(end)
		if _, ok := m.(*wire.Status); ok {
			go func() { // answers pings, until the connection is closed
				for err == nil {
					_, err = tab.Recv()
				}
			}()
			return tab, nil
		}
	}
	return nil, errors.Join(err, tab.Close())
}
