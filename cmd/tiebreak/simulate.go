package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"tiebreak/envs"
	"tiebreak/internal/clip"
	"tiebreak/internal/idrl"
	"tiebreak/internal/rng"
	"tiebreak/internal/sim"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// simulateFlags are the flags of simulate.
type simulateFlags struct {
	url, expert, models         string
	answers                     int
	seed                        uint64
	temperature, noise, tieBand float64
	mistake, skipBelow          float64
	pause                       time.Duration
}

func (f *simulateFlags) declare(fs *flag.FlagSet) {
	fs.StringVar(&f.url, "url", "", "annotator `link` of the session (required)")
	modelsFlag(fs, &f.models)
	fs.IntVar(&f.answers, "answers", 30, "`number` of answers to give")
	fs.StringVar(&f.expert, "expert", sim.Experts()[0], "kind of expert: "+strings.Join(sim.Experts(), ", "))
	fs.Uint64Var(&f.seed, "seed", 1, "of the expert's true reward and of its answers")
	fs.Float64Var(&f.temperature, "temperature", 0.1, "of a bradley-terry, tie-band or b-pref expert's doubt, relative to the range of rewards")
	fs.Float64Var(&f.noise, "noise", 0.1, "standard deviation of ratings, and of what a numeric expert sees in a comparison, on a scale from -1 to 1")
	fs.Float64Var(&f.tieBand, "tie-band", 0, "what a perfect, tie-band or b-pref expert calls equal, relative to the range of rewards")
	fs.Float64Var(&f.mistake, "mistake", 0, "`probability` that a b-pref expert says the opposite")
	fs.Float64Var(&f.skipBelow, "skip-below", 0, "a b-pref expert skips the question if both clips have less than this true `return`")
	fs.DurationVar(&f.pause, "pause", 0, "time to think before each answer, such as 500ms")
}

// options returns those of the expert. scale is the range of rewards.
func (f *simulateFlags) options(scale float64, steps func(idrl.ClipID) [][]float64) sim.Options {
	return sim.Options{
		Range: scale, Temperature: f.temperature, NoiseStd: f.noise, TieBand: f.tieBand, Steps: steps,
		Teacher: sim.Teacher{
			Beta: 1 / (f.temperature * scale), Mistake: f.mistake,
			SkipBelow: f.skipBelow, EqualWithin: f.tieBand * scale,
		},
	}
}

func simulateCommand() command {
	return command{
		name: "simulate", summary: "let a simulated expert answer a running server", usage: "--url LINK [flags]",
		about: "Joins a session by its annotator link, as a person would, and answers over the same sockets by a true\n" +
			"reward drawn from the seed. So a study can be rehearsed, and what the server learns be compared with\n" +
			"the truth, which is printed at the end.",
		example: "tiebreak simulate --url http://127.0.0.1:8080/join/TOKEN --answers 30 --expert bradley-terry --seed 7",
		flags:   func(fs *flag.FlagSet) { new(simulateFlags).declare(fs) },
		run:     runSimulate,
	}
}

func runSimulate(ctx context.Context, std stdio, args []string) error {
	var f simulateFlags
	fs := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.declare(fs)
	if err := parse(fs, args); err != nil {
		return err
	}
	switch {
	case f.url == "":
		return fmt.Errorf("%w: --url is missing; give the annotator link that the server printed", errUsage)
	case f.answers < 1:
		return fmt.Errorf("%w: --answers must be at least 1; got %d", errUsage, f.answers)
	case !(f.temperature > 0) || math.IsInf(f.temperature, 1):
		return fmt.Errorf("%w: --temperature must be a positive number; got %v; for an expert who never errs say --expert perfect", errUsage, f.temperature)
	}
	list, err := environments(f.models)
	if err != nil {
		return err
	}
	r := &rehearsal{envs: list, flags: f, out: std.out, asked: map[idrl.QueryID]uint64{}, questions: map[idrl.AssignmentID]*wire.Query{}}
	if _, err := sim.NewExpert(f.expert, sim.Task{}, f.options(1, r.steps)); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	conn, err := client.DialAs(ctx, f.url, "Simulated "+f.expert)
	if err != nil {
		return err
	}
	defer conn.Close()
	r.conn = conn
	return r.run(ctx)
}

// A rehearsal is one simulated annotator at work.
type rehearsal struct {
	envs  envs.List
	flags simulateFlags
	conn  *client.Conn
	out   io.Writer

	hello     *wire.Hello
	task      sim.Task
	expert    sim.Expert
	asked     map[idrl.QueryID]uint64           // times that a question was answered
	questions map[idrl.AssignmentID]*wire.Query // offered, not answered
	shown     []idrl.Clip                       // of the question under way
	open      []idrl.AssignmentID               // as the last status listed them
	sent      *wire.Answer                      // not acknowledged; nil if none
	given     int                               // acknowledged
	done      bool                              // the session is complete
}

// retries is how often a lost connection is taken up again before giving up.
const retries = 10

func (r *rehearsal) run(ctx context.Context) error {
	failures := 0
	for {
		err := r.converse(ctx)
		switch {
		case err == nil:
			return r.report()
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, errLost):
			return err
		}
		if failures++; failures > retries {
			return fmt.Errorf("gave up after %d attempts: %w", retries, err)
		}
		fmt.Fprintf(r.out, "The server is away; trying again (%d of %d).\n", failures, retries)
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
		if err := r.conn.Reconnect(ctx); err == nil {
			failures = 0
		}
	}
}

// pause waits for d, or returns ctx.Err() if ctx is done before.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// errLost marks the loss of the connection.
var errLost = errors.New("connection lost")

// converse talks on one socket until the answers are given or the session is done.
func (r *rehearsal) converse(ctx context.Context) error {
	hello := &wire.ClientHello{}
	if r.sent != nil {
		hello.Outbox = []idrl.AnswerID{r.sent.ID}
	}
	if err := r.conn.Send(hello); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	for {
		m, err := r.conn.Recv()
		if err != nil {
			return fmt.Errorf("%w: %w", errLost, err)
		}
		if done, err := r.take(ctx, m); done || err != nil {
			return err
		}
	}
}

func (r *rehearsal) take(ctx context.Context, m wire.FromServer) (done bool, err error) {
	switch m := m.(type) {
	case *wire.Hello:
		return false, r.greet(m)
	case *wire.Query:
		r.questions[m.Assignment] = m
	case *wire.Ack:
		if r.acked(m.ID) || r.done {
			return true, nil
		}
		return false, r.answer(ctx) // a status may have come before the ack
	case *wire.Nak:
		if m.RetryMS > 0 && r.sent == nil {
			return false, nil // the server could not say what is open; it tries again
		}
		if m.RetryMS > 0 {
			if err := pause(ctx, time.Duration(min(m.RetryMS, 5000))*time.Millisecond); err != nil {
				return false, err
			}
			return false, r.send(r.sent)
		}
		return false, idrl.Errorf(idrl.Conflict, "the server refused an answer: %s", m.Message)
	case *wire.Status:
		r.done, r.open = m.Done, m.Open
		if r.done {
			return r.sent == nil, nil // an acknowledgement may still be under way
		}
		return false, r.answer(ctx)
	case *wire.Bye:
		return false, errLost
	}
	return false, nil
}

// greet prepares the expert for the session's environment.
func (r *rehearsal) greet(m *wire.Hello) error {
	if len(m.Have) > 0 && r.sent != nil {
		r.acked(r.sent.ID)
	}
	if r.hello != nil {
		if r.sent != nil { // it did not arrive
			return r.send(r.sent)
		}
		return nil
	}
	r.hello = m
	e, err := r.envs.Find(m.Env)
	if err != nil {
		return err
	}
	env := e.New(rng.New(r.flags.seed, "layout", 0))
	r.task = sim.NewTask(env, rng.New(r.flags.seed, "task", 0))
	scale := sim.Range(env, r.task.Theta, m.Kind, rng.New(r.flags.seed, "range", 0))
	r.expert, err = sim.NewExpert(r.flags.expert, r.task, r.flags.options(scale, r.steps))
	return err
}

// acked notes an acknowledgement and reports whether it was the last.
func (r *rehearsal) acked(id idrl.AnswerID) (done bool) {
	if r.sent == nil || r.sent.ID != id {
		return false
	}
	delete(r.questions, r.sent.Assignment)
	r.sent = nil
	if r.given++; r.given%10 == 0 || r.given == r.flags.answers {
		fmt.Fprintf(r.out, "%d of %d answers\n", r.given, r.flags.answers)
	}
	return r.given == r.flags.answers
}

// next returns the first open question that has no reply, or nil.
func (r *rehearsal) next() *wire.Query {
	for _, id := range r.open {
		if q := r.questions[id]; q != nil {
			return q
		}
	}
	return nil
}

// answer replies to the next question, unless a reply is under way.
func (r *rehearsal) answer(ctx context.Context) error {
	m := r.next()
	if r.sent != nil || m == nil {
		return nil
	}
	q, err := r.look(ctx, m)
	if err != nil {
		return err
	}
	// The same seed gives the same answers to the same questions, in any session.
	a := r.expert.Answer(q, rng.New(r.flags.seed, "answer "+string(m.Query), r.asked[m.Query]))
	r.asked[m.Query]++
	if err := pause(ctx, r.flags.pause); err != nil {
		return err
	}
	out := &wire.Answer{
		ID: newAnswerID(rng.New(r.flags.seed, "id "+string(m.Assignment), 0)), Assignment: m.Assignment,
		Choice: a.Choice, Reason: a.Reason, ShownLeft: m.Left, ShownAt: time.Now().UTC(),
		AnsweredMS: r.flags.pause.Milliseconds(), Input: "api", Instructions: r.hello.Instructions,
	}
	if a.Choice == idrl.Rated {
		out.Rating = &a.Rating
	}
	return r.send(out)
}

func (r *rehearsal) send(a *wire.Answer) error {
	r.sent = a
	if err := r.conn.Send(a); err != nil {
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return nil
}

// look fetches the clips of a question and returns the question that they pose.
func (r *rehearsal) look(ctx context.Context, m *wire.Query) (idrl.Query, error) {
	r.shown = nil
	for _, url := range m.Clips {
		b, err := r.conn.Clip(ctx, url)
		if err != nil {
			return idrl.Query{}, err
		}
		c, err := clip.Decode(b)
		if err != nil {
			return idrl.Query{}, fmt.Errorf("clip %s: %w", url, err)
		}
		r.shown = append(r.shown, idrl.Clip{ID: idrl.ClipID(url), Steps: c.Header.Steps, Phi: c.Header.Phi})
	}
	if m.Kind.Comparison() {
		return idrl.NewComparison(r.shown[0], r.shown[1]), nil
	}
	return idrl.NewRating(r.shown[0]), nil
}

// steps returns the features of a clip that is shown as if it were of one step:
// a clip carries their sum alone, which says what its return is.
func (r *rehearsal) steps(id idrl.ClipID) [][]float64 {
	for _, c := range r.shown {
		if c.ID == id {
			return [][]float64{c.Phi}
		}
	}
	return nil
}

// newAnswerID returns a version 4 UUID made from the stream.
func newAnswerID(stream *rand.Rand) idrl.AnswerID {
	hi := stream.Uint64()&^uint64(0xf000) | 0x4000
	lo := stream.Uint64()&^(uint64(3)<<62) | 1<<63
	return idrl.AnswerID(fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1)))
}

func (r *rehearsal) report() error {
	fmt.Fprintf(r.out, "%d answers given. The expert's true reward weights:\n", r.given)
	e, err := r.envs.Find(r.hello.Env)
	if err != nil {
		return err
	}
	for k, name := range e.New(rng.New(r.flags.seed, "layout", 0)).Spec().FeatureNames {
		fmt.Fprintf(r.out, "  %-28s %8.3f\n", name, r.task.Theta[k])
	}
	return nil
}
