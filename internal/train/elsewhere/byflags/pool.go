package byflags

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"tiebreak/internal/train/elsewhere"
	"tiebreak/internal/train/jobs"
)

// sayEvery is how often a command says that its jobs wait.
const sayEvery = 10 * time.Second

// Pool returns a pool for the jobs of a command, which workers join by the carriers of the flags, and what ends it. say hears
// in a line what keeps jobs waiting.
func (c *Carriers) Pool(ctx context.Context, say func(string), log *slog.Logger) (_ *jobs.Pool, end func() error, err error) {
	version, err := Version()
	if err != nil {
		return nil, nil, fmt.Errorf("find out the version of this program: %w", err)
	}
	openers, err := c.Openers("", log)
	if err != nil {
		return nil, nil, err
	}
	pool, err := jobs.NewPool(jobs.Config{Store: &jobs.Rows{}, Workers: -1, Log: log})
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, open := range openers {
		hub := elsewhere.NewHub(elsewhere.HubConfig{Pool: pool, Version: version, Log: log})
		all.Go(func() {
			if err := Keep(ctx, open, func(err error) { say(err.Error()) }, hub.Run); err != nil {
				say(err.Error())
				_ = pool.Close() // nothing would ever be done
			}
		})
		all.Go(func() { report(ctx, pool, hub, say) })
	}
	return pool, func() error {
		err := pool.Close()
		stop()
		all.Wait()
		return err
	}, nil
}

// report says again and again why jobs wait while no worker has one.
func report(ctx context.Context, pool *jobs.Pool, hub *elsewhere.Hub, say func(string)) {
	tick := time.NewTicker(sayEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if waiting := pool.Waiting(); len(waiting) > 0 && len(pool.Now()) == 0 {
			say(why(waiting[0], hub.States()))
		}
	}
}

// why says why a job waits.
func why(job jobs.Waiting, workers []elsewhere.State) string {
	for _, w := range workers {
		if w.Barred != "" {
			return fmt.Sprintf("Worker %s gets no jobs: %s.", w.Offer.Worker, w.Barred)
		}
		if lacks := w.Lacks(job.Needs); lacks != "" {
			return fmt.Sprintf("Worker %s does not have what the jobs need: %s.", w.Offer.Worker, lacks)
		}
	}
	return "No worker has offered itself yet. Start some with the same --nats or --folder."
}
