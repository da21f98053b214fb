package elsewhere

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// An Offer describes a worker that waits for a job.
type Offer struct {
	Worker  string   `json:"worker"`
	Process string   `json:"process"` // tells processes of one name apart, as those that share a key
	Slot    int      `json:"slot"`    // from 1: a worker does a job in each
	Number  string   `json:"number"`  // of the offer, which a server takes once
	Host    string   `json:"host"`    // name of the machine
	Version string   `json:"version"` // of the program
	Has     []string `json:"has"`     // what jobs may need, in words
	Memory  int64    `json:"memory"`  // of the machine, in MiB; 0 if that is not known
	Share   int64    `json:"share"`   // of Memory, for each of its slots
	Cores   int      `json:"cores"`
}

// Limits of what a worker may say of itself.
const (
	maxHas     = 1000
	maxNeed    = 300 // bytes
	maxVersion = 200
	maxSlots   = 1024
)

// decodeOffer returns the offer that was told under a subject.
func decodeOffer(m Message) (Offer, error) {
	var o Offer
	if err := json.Unmarshal(m.Data, &o); err != nil {
		return Offer{}, idrl.Errorf(idrl.Invalid, "an offer is damaged: %v", err)
	}
	words := strings.Split(m.Subject, ".")
	ok := len(words) == 4 && words[1] == o.Worker && words[2] == o.Process && words[3] == strconv.Itoa(o.Slot) && Valid(o.Number) &&
		o.Slot >= 1 && o.Slot <= maxSlots && len(o.Host) <= maxNeed && len(o.Version) <= maxVersion && len(o.Has) <= maxHas &&
		!slices.ContainsFunc(o.Has, func(s string) bool { return len(s) > maxNeed })
	if !ok {
		return Offer{}, idrl.Errorf(idrl.Invalid, "an offer under %q is damaged", m.Subject)
	}
	return o, nil
}

func (o Offer) subject() string { return fmt.Sprintf("offers.%s.%s.%d", o.Worker, o.Process, o.Slot) }

// name is that of the slot, for people.
func (o Offer) name() string { return fmt.Sprintf("%s/%s/%d", o.Worker, o.Process, o.Slot) }

// Lacks returns what the worker does not have of what a job needs, with commas between; empty if it has all. One whose memory is
// not known has enough.
func (o Offer) Lacks(needs []string) string {
	var out []string
	for _, need := range needs {
		mib, memory := jobs.NeededMemory(need)
		if memory && (o.Share == 0 || o.Share >= mib) || !memory && slices.Contains(o.Has, need) {
			continue
		}
		out = append(out, need)
	}
	return strings.Join(out, ", ")
}
