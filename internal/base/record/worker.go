package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// Limits of what is recorded of workers on other machines.
const (
	maxWorkerName = 64     // bytes
	MaxWorkerWhy  = 300    // characters of a reason
	MaxWorkerBars = 10_000 // workers about which a researcher has said something
	MaxReported   = 1000   // workers, and waiting jobs, that a WorkerReport lists
)

// What a researcher says of a worker.
const (
	WorkerDrained = "drained" // it finishes its jobs, and gets no others
	WorkerBanned  = "banned"  // it gets no jobs, and what it does is done by others
	WorkerAllowed = "allowed" // it may have jobs, whatever was said or found before
)

// A WorkerBar records the last decision of a researcher about a worker.
type WorkerBar struct {
	Worker string    `json:"worker"`
	Bar    string    `json:"bar"` // WorkerDrained, WorkerBanned or WorkerAllowed
	Who    string    `json:"who"` // said so: the name of a researcher, or "command line"
	At     time.Time `json:"at"`
	Why    string    `json:"why"` // plain text on one line, at most MaxWorkerWhy characters; may be empty
}

// Validate returns an error of kind Invalid that says what to change.
func (b WorkerBar) Validate() error {
	switch {
	case !workerName(b.Worker):
		return idrl.Errorf(idrl.Invalid, "%.100q cannot be the name of a worker: it has 1 to %d letters from a to z, digits, - and _", b.Worker, maxWorkerName)
	case b.Bar != WorkerDrained && b.Bar != WorkerBanned && b.Bar != WorkerAllowed:
		return idrl.Errorf(idrl.Invalid, "a worker is %s, %s or %s, and not %.100q", WorkerDrained, WorkerBanned, WorkerAllowed, b.Bar)
	case utf8.RuneCountInString(b.Why) > MaxWorkerWhy:
		return idrl.Errorf(idrl.Invalid, "the reason has %d characters; at most %d are kept", utf8.RuneCountInString(b.Why), MaxWorkerWhy)
	case !utf8.ValidString(b.Why) || strings.ContainsFunc(b.Why, unicode.IsControl):
		return idrl.Errorf(idrl.Invalid, "the reason must be plain text on one line")
	case !idrl.IsVisible(b.Why):
		return idrl.NotVisible("reason")
	}
	return nil
}

func workerName(name string) bool {
	return name != "" && len(name) <= maxWorkerName && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// A WorkerReport lists the workers of a server, and the jobs that they do or that wait. Its JSON is that of GET /api/v1/workers.
type WorkerReport struct {
	At        time.Time     `json:"at"`        // when it was so
	Elsewhere bool          `json:"elsewhere"` // the server takes workers on other machines
	Workers   []WorkerState `json:"workers"`   // on other machines, by name
	Here      []WorkerJob   `json:"here"`      // what processes of the server's machine do
	Waiting   []WaitingJob  `json:"waiting"`   // in the order of arrival
	Bars      []WorkerBar   `json:"bars"`      // by worker
	Unplaced  []Unplaced    `json:"unplaced"`  // what new sessions may need and no place can train
	LeftOut   int           `json:"left_out"`  // workers and waiting jobs beyond MaxReported
}

// An Unplaced is a set of requirements of trainings that neither this machine nor any connected worker meets.
type Unplaced struct {
	Needs []string `json:"needs"` // in words
	Why   string   `json:"why"`   // what is missing at which worker, in words
}

// WhyUnplaced returns why no place can train a session with such needs, in words; empty if one can, or if that is not known.
func (r WorkerReport) WhyUnplaced(needs []string) string {
	if k := slices.IndexFunc(r.Unplaced, func(u Unplaced) bool { return slices.Equal(u.Needs, needs) }); k >= 0 {
		return r.Unplaced[k].Why
	}
	return ""
}

// A WorkerState is what is known of a worker on another machine.
type WorkerState struct {
	Name    string      `json:"name"`
	Host    string      `json:"host"`       // name of the machine
	Cores   int         `json:"cores"`      // of the machine
	Memory  int64       `json:"memory_mib"` // of the machine; 0 if that is not known
	Version string      `json:"version"`    // of the program
	Since   time.Time   `json:"since"`      // when the server heard of it first
	Slots   int         `json:"slots"`      // jobs that it does at a time
	Doing   []WorkerJob `json:"doing"`      // now
	Done    int         `json:"done"`       // jobs, since the server started
	False   int         `json:"false"`      // results that were false, since the server started or a researcher allowed it
	Refused string      `json:"refused"`    // why the server gives it no jobs of its own accord; empty if it does
	State   string      `json:"state"`      // one of the states below
}

// States of a worker.
const (
	WorkerFree      = "free"      // it waits for a job
	WorkerWorks     = "works"     // it has a job
	WorkerFinishing = "finishing" // it has a job, and is drained
	WorkerRefused   = "refused"   // WorkerState.Refused says why; WorkerDrained and WorkerBanned are states, too
)

// A WorkerJob is a job that is done.
type WorkerJob struct {
	Session idrl.SessionID `json:"session"`
	Title   string         `json:"title"` // of the session
	Kind    string         `json:"kind"`  // "train", "fit"
	Since   time.Time      `json:"since"` // when it was given to the worker
}

// A WaitingJob is a job that waits for a worker; Since says from when on.
type WaitingJob struct {
	WorkerJob
	Needs []string `json:"needs"` // what a worker must have, in words
	Why   string   `json:"why"`   // it waits, in words
}

// WithBars returns r with what researchers say of workers, by name, and with the states that follow.
func (r WorkerReport) WithBars(bars []WorkerBar) WorkerReport {
	r.Bars = append([]WorkerBar{}, bars...)
	r.Workers = append([]WorkerState{}, r.Workers...)
	r.Here, r.Waiting, r.Unplaced = append([]WorkerJob{}, r.Here...), append([]WaitingJob{}, r.Waiting...), append([]Unplaced{}, r.Unplaced...) // never null in JSON
	for k := range r.Workers {
		w := &r.Workers[k]
		w.State = w.state(r.Bar(w.Name).Bar)
	}
	return r
}

// Hide returns r without the names of the sessions for which hidden is true, whose jobs are still
// listed.
func (r WorkerReport) Hide(hidden func(idrl.SessionID) bool) WorkerReport {
	hide := func(jobs []WorkerJob) []WorkerJob {
		jobs = append([]WorkerJob{}, jobs...)
		for k := range jobs {
			jobs[k].hide(hidden)
		}
		return jobs
	}
	r.Workers, r.Here, r.Waiting = append([]WorkerState{}, r.Workers...), hide(r.Here), append([]WaitingJob{}, r.Waiting...)
	for k := range r.Workers {
		r.Workers[k].Doing = hide(r.Workers[k].Doing)
	}
	for k := range r.Waiting {
		r.Waiting[k].hide(hidden)
	}
	return r
}

func (j *WorkerJob) hide(hidden func(idrl.SessionID) bool) {
	if hidden(j.Session) {
		j.Session, j.Title = "", "a session that you may not see"
	}
}

func (w *WorkerState) state(bar string) string {
	switch {
	case bar == WorkerBanned:
		return WorkerBanned
	case w.Refused != "":
		return WorkerRefused
	case bar == WorkerDrained && len(w.Doing) > 0:
		return WorkerFinishing
	case bar == WorkerDrained:
		return WorkerDrained
	case len(w.Doing) > 0:
		return WorkerWorks
	}
	return WorkerFree
}

// Bar returns what a researcher says of a worker, the zero value if nothing.
func (r WorkerReport) Bar(worker string) WorkerBar {
	if k := slices.IndexFunc(r.Bars, func(b WorkerBar) bool { return b.Worker == worker }); k >= 0 {
		return r.Bars[k]
	}
	return WorkerBar{}
}

// Absent returns the workers that are drained or banned, and that the server knows nothing else of now.
func (r WorkerReport) Absent() (out []WorkerBar) {
	for _, b := range r.Bars {
		here := slices.ContainsFunc(r.Workers, func(w WorkerState) bool { return w.Name == b.Worker })
		if b.Bar != WorkerAllowed && !here {
			out = append(out, b)
		}
	}
	return out
}

// Where describes the machine of a worker, for people.
func (w WorkerState) Where() string {
	parts := []string{cmp.Or(w.Host, "unknown machine"), Counted(w.Cores, "core")}
	switch gib := float64(w.Memory) / 1024; {
	case gib >= 10:
		parts = append(parts, fmt.Sprintf("%.0f GiB", gib))
	case gib > 0:
		parts = append(parts, fmt.Sprintf("%.1f GiB", gib))
	}
	return strings.Join(parts, ", ")
}

// Counted writes a number of things whose plural ends with s.
func Counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Says describes the state of a worker, for people.
func (w WorkerState) Says() string {
	return map[string]string{
		WorkerFree: "waits for a job", WorkerWorks: "works", WorkerFinishing: "drained: finishes its job, and gets no other",
		WorkerDrained: "drained: gets no jobs", WorkerBanned: "banned: gets no jobs", WorkerRefused: "gets no jobs: " + w.Refused,
	}[w.State]
}

// What describes a job, for people.
func (j WorkerJob) What() string {
	kind := map[string]string{"train": "training", "fit": "fit of the reward network"}[j.Kind]
	return fmt.Sprintf("%s: %s", cmp.Or(j.Title, string(j.Session)), cmp.Or(kind, j.Kind))
}
