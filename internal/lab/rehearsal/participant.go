package rehearsal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"tiebreak/internal/base/rng"
	"tiebreak/web/wire"
)

// mark tells this annotator apart from others, also from those with the same seed.
func mark(seed uint64, between string) string {
	return fmt.Sprintf("%d%s%d", seed, between, os.Getpid())
}

// name is how the annotator is listed among people.
func (r *Annotator) name() string {
	return "Simulated " + r.cfg.Expert.name() + " " + mark(r.cfg.Seed, ".") + r.cfg.apart(".")
}

// apart tells the people of a run apart; the first needs nothing.
func (c Config) apart(between string) string {
	if c.person == 0 {
		return ""
	}
	return between + strconv.Itoa(c.person+1)
}

// stream is the n-th random stream of a name of this annotator.
func (r *Annotator) stream(name string, n uint64) *rand.Rand {
	return rng.New(r.cfg.Seed, name+r.cfg.apart(" of person "), n)
}

// sayAgreed says that the annotator agreed to a consent text, once a version.
func (r *Annotator) sayAgreed() {
	if v := r.conn.Agreed; v != r.agreed {
		r.agreed = v
		fmt.Fprintf(r.cfg.Out, "Agreed to version %s of the consent text, as a simulated annotator.\n", v)
	}
}

// lastStatus is how long an annotator from a crowd platform waits for what it is told at the end.
const lastStatus = 10 * time.Second

// end prints the text that the annotator is told at the end of its part.
func (r *Annotator) end() error {
	for by := time.Now().Add(lastStatus); r.crowd && !r.status.Done; {
		m, err := r.conn.RecvBy(by)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			fmt.Fprintln(r.cfg.Out, "The part of this annotator has not ended: no completion code is shown yet.")
			return nil
		}
		if err != nil {
			return errLost(err)
		}
		if s, is := m.(*wire.Status); is {
			r.status = *s
		}
	}
	if r.status.Code != "" {
		fmt.Fprintf(r.cfg.Out, "Completion code: %s\n", r.status.Code)
	}
	if r.status.Return != "" {
		fmt.Fprintf(r.cfg.Out, "The button at the end leads to %s\n", r.status.Return)
	}
	if r.crowd && r.status.Code == "" {
		fmt.Fprintln(r.cfg.Out, "The session has no completion code (--completion-code).")
	}
	return nil
}
