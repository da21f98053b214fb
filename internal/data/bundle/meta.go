package bundle

import (
	"bytes"
	"context"
	"encoding/json"

	"tiebreak/internal/idrl"
)

// meta is meta.json. docs/datasets.md describes the fields.
type meta struct {
	Format   string `json:"format"`
	Version  int    `json:"schema_version"`
	Program  string `json:"program"`
	Session  string `json:"session_id"`
	Title    string `json:"title"`
	Env      string `json:"env_id"`
	Kind     string `json:"kind"`
	Seed     uint64 `json:"seed"`
	Strategy string `json:"strategy"`

	Rehearsal bool `json:"rehearsal,omitempty"` // the people are simulated

	ClipsBeingCut bool `json:"clips_being_cut,omitempty"` // of an arena: people were asked about a part of them so far

	// What the researcher has stated; empty where nothing is.
	Authors     []string `json:"authors"`
	Emails      []string `json:"author_emails"`
	Licence     string   `json:"licence"`
	Recruitment string   `json:"recruitment"`
	Payment     string   `json:"payment"`
	Consent     bool     `json:"consent"` // people agreed to a text before their first question

	LayoutSeed uint64   `json:"layout_seed"` // of the environment
	ClipSteps  int      `json:"clip_steps"`  // of the environment in a clip; 0: not recorded
	Features   []string `json:"features"`
	Engines    []string `json:"engines"`

	Complete bool   `json:"complete"`
	Records  int64  `json:"records_version,omitempty"`
	Answers  string `json:"answers"` // "all" or "counting"
	After    int64  `json:"after"`
	Cursor   cursor `json:"cursor"`

	Counts   counts         `json:"counts"`
	Rows     map[string]int `json:"rows"`
	Without  []string       `json:"without,omitempty"`
	Polarity polarity       `json:"polarity"`
	Files    []fileEntry    `json:"files"`
}

// A cursor is up to where a bundle goes.
type cursor struct {
	Seq   int64         `json:"seq"`
	Label idrl.AnswerID `json:"label_id,omitempty"`
}

// counts sum up what a bundle holds and what parts of it leave out.
type counts struct {
	Labels       int `json:"labels"`
	Annotators   int `json:"annotators"`
	Withdrawn    int `json:"annotators_withdrawn"`
	Comparisons  int `json:"comparisons"`
	Ties         int `json:"ties"`
	Train        int `json:"train"`
	Test         int `json:"test"`
	Across       int `json:"without_split"`
	PairTrain    int `json:"pair_train"`
	PairValid    int `json:"pair_validation"`
	PairTest     int `json:"pair_test"`
	Segments     int `json:"segments"`
	Trajectories int `json:"trajectories"`
	Policies     int `json:"policies"`
	Clips        int `json:"clips"`

	Length  int `json:"adapter_steps"`
	Usable  int `json:"adapter_comparisons"`
	Without int `json:"adapter_left_out"`
}

// polarity says in words what the numbers mean: the conventions of libraries differ.
type polarity struct {
	Labels    string `json:"labels"`
	Imitation string `json:"adapters/imitation.npz"`
	IPL       string `json:"adapters/ipl.npz"`
	UniRLHF   string `json:"adapters/uni_rlhf"`
	TRL       string `json:"adapters/trl.jsonl"`
	CSV       string `json:"adapters/labels.csv"`
}

const labelPolarity = "choice names the clip, never the side: a is segment_a, b is segment_b. " +
	"prob_a is the stated probability of preferring segment_a: 1.0 for a, 0.0 for b, 0.5 for equal, null else. " +
	"Where turned is true, a researcher has turned the answer of an annotator who answered the other way round: in labels, choice and rating are as given, and prob_a is 0.0 for a, 1.0 for b; all other files have the answer as it counts. " +
	"equal (neither is better), cant_tell, skip and technical_failure are different answers."

var polarities = polarity{
	Labels:    labelPolarity,
	Imitation: "preferences is the probability that fragment 1 (first) is preferred: 1.0 first, 0.0 second, 0.5 equal.",
	IPL:       "label is 0.0 where segment 1 (obs_1) is preferred, 1.0 where segment 2 (obs_2) is, 0.5 for equal.",
	UniRLHF:   "human_label is 0 where the first (indices_1) is preferred, 1 where the second (indices_2) is, -1 for equal.",
	TRL:       "chosen is preferred over rejected. Ties are left out.",
	CSV:       "prob_a is 1 where clip_a is preferred, 0 where clip_b is, 0.5 for equal, empty else; where turned is true it is the opposite of choice, and counts.",
}

// describe sets what of meta is known before the tables are written, and writes the settings.
func (b *builder) describe(ctx context.Context) (err error) {
	s, m := &b.spec, &b.meta
	m.Format, m.Version, m.Program, m.Polarity = "tiebreak.bundle", SchemaVersion, b.cfg.Program, polarities
	m.Session, m.Title, m.Env, m.Kind, m.Seed, m.Strategy, m.Features = string(s.ID), s.Title, s.Env, string(s.Kind), s.Seed, s.Acquisition, s.Features
	m.terms(b.spec)
	m.Rehearsal = s.Rehearsal
	if m.ClipsBeingCut, err = b.cfg.Uncut(ctx); err != nil {
		return err
	}
	m.LayoutSeed, m.ClipSteps = s.LayoutSeed(), s.Clip.Steps
	m.After, m.Answers = b.part.After, "all"
	if b.part.Counting {
		m.Answers = "counting"
	}
	if m.Cursor.Seq, m.Cursor.Label, err = b.from.LastSeq(ctx); err != nil {
		return err
	}
	if b.part.After > m.Cursor.Seq {
		return idrl.Errorf(idrl.Invalid, "the log of session %s has %d rows, so there is nothing after row %d: use cursor.seq of the meta.json of an earlier bundle of this session",
			s.ID, m.Cursor.Seq, b.part.After)
	}
	if m.Engines, err = b.from.Engines(ctx); err != nil {
		return err
	}
	text, err := Session(*s, m.Engines)
	if err != nil {
		return err
	}
	return b.content("session.json", text)
}

// finish writes the files that describe all others.
func (b *builder) finish() error {
	if err := b.content("README.md", b.card()); err != nil {
		return err
	}
	text, err := indented(b.meta)
	if err != nil {
		return err
	}
	w, err := b.sink.Create("meta.json", false)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return w.Close()
}

// Session returns the settings of a session as JSON: spec with the names of its features, and
// the physics engines that its clips were computed with.
func Session(spec idrl.SessionSpec, engines []string) ([]byte, error) {
	return indented(struct {
		idrl.SessionSpec
		Engines []string
	}{spec, engines})
}

func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}

// addPair counts a comparison in its part of the split by pairs.
func (c *counts) addPair(part string) {
	switch part {
	case train:
		c.PairTrain++
	case validation:
		c.PairValid++
	case test:
		c.PairTest++
	}
}
