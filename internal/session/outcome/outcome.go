package outcome

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"

	"tiebreak/internal/base/networks"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/learn/belief"
	"tiebreak/internal/learn/neural"
	"tiebreak/internal/session"
)

// A Source holds a session, from which files are made.
type Source struct {
	Spec   idrl.SessionSpec // with the names of its features
	Env    idrl.Environment // of the session
	Review session.Review   // of its record

	// Acted returns what a policy that acted in rollouts is called, and the names of those; ok is
	// false of every other policy. It may be nil: there is none.
	Acted func(idrl.Candidate) (name string, rollouts []string, ok bool)
}

// Formats of files beside those of package networks.
const (
	indexFormat    = "tiebreak.index"
	featuresFormat = "tiebreak.reward-features"
	tableFormat    = "tiebreak.policy-table"
	sequenceFormat = "tiebreak.policy-sequence"
	gaitFormat     = "tiebreak.policy-gait"
	actedFormat    = "tiebreak.policy-rollouts"
)

const version = 1 // of each of them

// A policyEntry says which policy a file holds.
type policyEntry struct {
	ID     idrl.PolicyID `json:"id"`
	File   string        `json:"file"`
	Origin idrl.Origin   `json:"origin"`
}

// An index lists the files of a session.
type index struct {
	Format     string         `json:"format"`
	Version    int            `json:"version"`
	Session    idrl.SessionID `json:"session"`
	Env        string         `json:"env"`
	Seq        int64          `json:"seq"`
	Generation int64          `json:"generation"`

	Reward      string        `json:"reward"`
	Network     int64         `json:"network"`
	Recommended idrl.PolicyID `json:"recommended"`
	Main        idrl.PolicyID `json:"main,omitempty"`
	Policies    []policyEntry `json:"policies"`
}

// Files returns the files of a session: an index, the reward under the posterior of the
// last answer, the candidate policies in use, and the recommended policy if it is none of
// them. The same record gives the same bytes. It returns an error of kind NotFound if
// nothing is learnt yet, and of kind Damaged or Invalid if a part cannot be read.
func Files(s Source) ([]export.File, error) {
	r := &s.Review
	if err := s.ready(); err != nil {
		return nil, err
	}
	x := index{
		Format: indexFormat, Version: version, Session: s.Spec.ID, Env: s.Spec.Env, Seq: r.Seq, Generation: r.BasedOn,
		Reward: rewardName + textExt, Recommended: r.Best.ID, Policies: []policyEntry{},
	}
	if r.Features != nil {
		x.Network = r.Features.Version()
	}
	files, err := s.reward()
	if err != nil {
		return nil, err
	}
	policies := slices.Clone(r.InUse)
	if !slices.ContainsFunc(policies, func(c idrl.Candidate) bool { return c.ID == r.Best.ID }) {
		policies = append(policies, r.Best)
	}
	for k, c := range policies {
		name := "policy-" + url.PathEscape(string(c.ID))
		made, err := s.policyFiles(name, c)
		if err != nil {
			return nil, fmt.Errorf("policy %s of session %s: %w", c.ID, s.Spec.ID, err)
		}
		if len(made) == 0 {
			continue
		}
		files = append(files, made...)
		x.Policies = append(x.Policies, policyEntry{c.ID, name + textExt, c.Origin})
		if k < len(r.InUse) && c.Origin == idrl.FromMean && x.Main == "" {
			x.Main = c.ID
		}
	}
	text, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("index of session %s: %w", s.Spec.ID, err)
	}
	return append([]export.File{{Name: "index" + textExt, Content: append(text, '\n')}}, files...), nil
}

// ready returns an error, which says what to do, if there is nothing to be exported.
func (s *Source) ready() error {
	r := &s.Review
	switch {
	case s.Spec.IsArena():
		return idrl.Errorf(idrl.NotFound, "session %s is an arena, which learns no reward: its answers say how strong the policies of other sessions are", s.Spec.ID)
	case r.Impaired != nil:
		return fmt.Errorf("the reward network of session %s cannot be used: %w", s.Spec.ID, r.Impaired)
	case s.Spec.Model == idrl.NetworkModel && r.Features == nil:
		return idrl.Errorf(idrl.NotFound, "session %s has no reward network yet: the first is learnt from %d answers that state a preference. "+
			"Answer more questions, then export again", s.Spec.ID, neural.FirstFit)
	case r.BasedOn < 0:
		return idrl.Errorf(idrl.NotFound, "session %s has no policies yet: a running server trains the first ones. Wait until it asks questions, then export again", s.Spec.ID)
	}
	return nil
}

// Parts of the names of files.
const (
	rewardName = "reward"
	textExt    = ".json"
	weightsExt = ".safetensors"
)

func pair(name string, weights, text []byte) []export.File {
	return []export.File{{Name: name + weightsExt, Content: weights}, {Name: name + textExt, Content: text}}
}

// reward returns the files of the reward.
func (s *Source) reward() ([]export.File, error) {
	if s.Review.Features == nil {
		text, err := json.Marshal(s.linearReward())
		return []export.File{{Name: rewardName + textExt, Content: text}}, err
	}
	learnt, ok := s.Review.Features.(neural.Representation)
	p, gaussian := belief.WeightsOf(s.Review.Posterior)
	if !ok || !gaussian {
		return nil, idrl.Errorf(idrl.Invalid, "the reward of session %s is none that can be exported: it is no network with a Gaussian posterior", s.Spec.ID)
	}
	m, err := learnt.Model.Under(p)
	if err != nil {
		return nil, err
	}
	weights, err := m.Encode()
	if err != nil {
		return nil, err
	}
	text, err := m.Describe()
	return pair(rewardName, weights, text), err
}

// A linearReward is a reward that is linear in the features of the environment.
type linearReward struct {
	Format    string   `json:"format"`
	Version   int      `json:"version"`
	Features  []string `json:"features"`
	Posterior struct {
		Mean       []float64   `json:"mean"`
		Covariance [][]float64 `json:"covariance"`
	} `json:"posterior"`
}

func (s *Source) linearReward() linearReward {
	p := s.Review.Posterior
	out := linearReward{Format: featuresFormat, Version: version, Features: s.Spec.Features}
	out.Posterior.Mean = p.Mean(nil)
	unit := make([]float64, p.Dim())
	for i := range unit {
		row := make([]float64, len(unit))
		unit[i] = 1
		p.CovMul(row, unit)
		unit[i] = 0
		out.Posterior.Covariance = append(out.Posterior.Covariance, row)
	}
	return out
}

// encoded returns the two files of a network.
func encoded(name string, n networks.Network) ([]export.File, error) {
	weights, text, err := n.Encode()
	return pair(name, weights, text), err
}
