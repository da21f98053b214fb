package solver

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// parallel calls do(worker, i) for every i from 0 to n−1 on at most that many
// goroutines, of which each has its own worker number from 0, and waits for
// them. After an error or the end of ctx no more calls begin. It returns
// ctx.Err() or the first error in the order of i.
func parallel(ctx context.Context, workers, n int, do func(worker, i int) error) error {
	var (
		next   atomic.Int64
		failed atomic.Bool
		wg     sync.WaitGroup
		errs   = make([]error, n)
	)
	for worker := range min(workers, n) {
		wg.Go(func() {
			for !failed.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[i] = do(worker, i); errs[i] != nil {
					failed.Store(true)
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// fork returns n independent streams that are a function of rng, one for each piece of work, so
// that a result does not depend on which worker does which piece.
func fork(rng *rand.Rand, n int) []*rand.Rand {
	out := make([]*rand.Rand, n)
	for i, seed := range seeds(rng, n) {
		out[i] = stream(seed)
	}
	return out
}

// seeds draws the seeds of n independent streams from rng.
func seeds(rng *rand.Rand, n int) [][32]byte {
	out := make([][32]byte, n)
	for i := range out {
		for k := 0; k < len(out[i]); k += 8 {
			binary.LittleEndian.PutUint64(out[i][k:], rng.Uint64())
		}
	}
	return out
}

// stream returns the stream of a seed from its beginning.
func stream(seed [32]byte) *rand.Rand { return rand.New(rand.NewChaCha8(seed)) }
