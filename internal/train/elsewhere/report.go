package elsewhere

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// A Reporter reports on the workers of a server and the jobs that wait.
type Reporter struct {
	Hub   *Hub                        // nil: no workers on other machines can join
	Pool  *jobs.Pool                  // required
	Title func(idrl.SessionID) string // of a session. Required
	Wants func() [][]string           // what sessions may need, by environment; nil where this machine has everything itself
}

// Report returns the report of now. bars are those that researchers have set, by worker.
func (r Reporter) Report(bars []record.WorkerBar) record.WorkerReport {
	out := record.WorkerReport{Elsewhere: r.Hub != nil, Workers: []record.WorkerState{}, Here: []record.WorkerJob{}, Waiting: []record.WaitingJob{}}
	var states []State
	if r.Hub != nil {
		states = r.Hub.States()
	}
	for _, s := range states {
		out.Workers = r.add(out.Workers, s)
	}
	for _, w := range r.Pool.Now() {
		if w.Doing && w.Name == jobs.OnThisMachine {
			out.Here = append(out.Here, r.job(w.Job, w))
		}
	}
	waiting := r.Pool.Waiting()
	out.LeftOut = max(len(out.Workers)-record.MaxReported, 0) + max(len(waiting)-record.MaxReported, 0)
	reasons := map[string]string{} // by what decides them
	for _, w := range waiting[:min(len(waiting), record.MaxReported)] {
		key := fmt.Sprintf("%v %q", w.Here, w.Needs)
		if _, known := reasons[key]; !known {
			reasons[key] = why(w, states)
		}
		job := record.WorkerJob{Session: w.Session, Title: r.Title(w.Session), Kind: w.Kind, Since: w.Since.UTC()}
		out.Waiting = append(out.Waiting, record.WaitingJob{WorkerJob: job, Needs: append([]string{}, w.Needs...), Why: reasons[key]})
	}
	if r.Wants != nil {
		for _, needs := range r.Wants() {
			if why := unplaced(needs, states); why != "" {
				out.Unplaced = append(out.Unplaced, record.Unplaced{Needs: needs, Why: why})
			}
		}
	}
	out.Workers = out.Workers[:min(len(out.Workers), record.MaxReported)]
	return out.WithBars(bars)
}

// add adds a slot to its worker, which is the last one if it is there.
func (r Reporter) add(all []record.WorkerState, s State) []record.WorkerState {
	if n := len(all); n == 0 || all[n-1].Name != s.Worker {
		all = append(all, record.WorkerState{
			Name: s.Worker, Host: shown(s.Host), Cores: s.Cores, Memory: s.Memory, Version: shown(s.Version), Since: s.Since.UTC(), Doing: []record.WorkerJob{},
			Done: s.Did, False: s.Wrong,
		})
	}
	w := &all[len(all)-1]
	w.Slots++
	if b := Bar(s.Barred); b != Open && b != Drained && b != Banned {
		w.Refused = shown(s.Barred)
	}
	if s.Work.Doing {
		w.Doing = append(w.Doing, r.job(s.Work.Job, s.Work))
	}
	return all
}

// shown returns what a worker says of itself without what could disturb a terminal.
func shown(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(text, ""))
}

func (r Reporter) job(k record.JobKey, w jobs.Worker) record.WorkerJob {
	return record.WorkerJob{Session: k.Session, Title: r.Title(k.Session), Kind: k.Kind, Since: w.Began.UTC()}
}

// why says what a job waits for, in words.
func why(w jobs.Waiting, all []State) string {
	const turn = "waits for its turn on this machine"
	given := slices.DeleteFunc(slices.Clone(all), func(s State) bool { return s.Barred != "" })
	able := slices.DeleteFunc(slices.Clone(given), func(s State) bool { return s.Lacks(w.Needs) != "" })
	lacks := ""
	for _, s := range given {
		if l := s.Lacks(w.Needs); lacks == "" || len(l) < len(lacks) {
			lacks = l
		}
	}
	switch {
	case w.Here, w.Local && len(given) == 0:
		return turn
	case len(all) == 0:
		return "there is no worker"
	case len(given) == 0:
		return "all workers are drained, banned or refused"
	case slices.ContainsFunc(able, func(s State) bool { return !s.Work.Doing }):
		return "a worker is about to begin it"
	case len(able) > 0 && len(able) == len(given):
		return "all workers are busy"
	case len(able) > 0:
		return "all workers that can do it are busy"
	case w.Local:
		return turn + "; no other worker has: " + lacks
	}
	return "no worker has: " + lacks
}

// namedWorkers is how many workers are named of which something is said.
const namedWorkers = 5

// unplaced says what each worker lacks of what a session needs; it is empty if one has it all.
func unplaced(needs []string, all []State) string {
	var said []string
	more := 0
	for k, s := range all {
		lacks := s.Lacks(needs)
		switch {
		case s.Barred == "" && lacks == "":
			return ""
		case k > 0 && s.Worker == all[k-1].Worker: // another slot of it
		case len(said) == namedWorkers:
			more++
		case s.Barred != "":
			said = append(said, "worker "+s.Worker+" gets no jobs: "+shown(s.Barred))
		default:
			said = append(said, "worker "+s.Worker+" lacks "+lacks)
		}
	}
	if len(said) == 0 {
		return "there is no worker"
	}
	if more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, "; ")
}
