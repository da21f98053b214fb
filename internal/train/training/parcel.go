package training

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"sync"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/idrl"
	"tiebreak/internal/train/jobs"
)

// generationName is the name of the artefact that ends a training: a manifest.
const generationName = "generation"

type hash [sha256.Size]byte

// A manifest is a generation without the drawings of its clips, raw steps and agents,
// which are artefacts of their own that come before it.
type manifest struct {
	Generation idrl.Generation
	Drawings   map[idrl.ClipID]hash
	Steps      map[idrl.StepsID]hash
	Agents     map[string]hash
}

// A sender hands over a generation from a worker.
type sender struct {
	to     jobs.Reporter
	engine string       // idrl.Generation.Engine
	failed func() error // why the generation must not be handed over; nil for never

	mu   sync.Mutex // guards sent
	sent map[hash]bool
}

// parts hands over the clips and raw steps of g that were not handed over before, in
// the order of their names, and returns their hashes.
func (s *sender) parts(g idrl.Generation) (drawings map[idrl.ClipID]hash, steps map[idrl.StepsID]hash, err error) {
	drawings, steps = map[idrl.ClipID]hash{}, map[idrl.StepsID]hash{}
	for _, id := range slices.Sorted(maps.Keys(g.Clips)) {
		if media := g.Clips[id].Media; media != nil {
			if drawings[id], err = s.part("clip "+string(id), media); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(g.Steps)) {
		if steps[id], err = s.part("steps "+string(id), g.Steps[id]); err != nil {
			return nil, nil, err
		}
	}
	return drawings, steps, nil
}

func (s *sender) part(name string, b []byte) (hash, error) {
	sum := hash(sha256.Sum256(b))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent[sum] {
		return sum, nil
	}
	if err := s.to.Artefact(name, b); err != nil {
		return hash{}, err
	}
	if s.sent == nil {
		s.sent = map[hash]bool{}
	}
	s.sent[sum] = true
	return sum, nil
}

// generation hands over what is left of g. It leaves out what the server does not need:
// the policies' code, and the snapshots that the clips were drawn from.
func (s *sender) generation(g idrl.Generation) error {
	if s.failed != nil {
		if err := s.failed(); err != nil {
			return err
		}
	}
	drawings, steps, err := s.parts(g)
	if err != nil {
		return err
	}
	g.Engine = s.engine
	m := manifest{Generation: g, Drawings: drawings, Steps: steps}
	m.Generation.Clips, m.Generation.Steps, m.Generation.Agents = make(map[idrl.ClipID]idrl.Clip, len(g.Clips)), nil, nil
	for _, name := range slices.Sorted(maps.Keys(g.Agents)) {
		sum, err := s.part(name, g.Agents[name])
		if err != nil {
			return err
		}
		if m.Agents == nil {
			m.Agents = map[string]hash{}
		}
		m.Agents[name] = sum
	}
	for id, c := range g.Clips {
		c.Snapshots, c.Media = nil, nil
		m.Generation.Clips[id] = c
	}
	b, err := pack.Encode(&m)
	if err != nil {
		return err
	}
	return s.to.Artefact(generationName, b)
}

// A receiver puts a generation together from the artefacts of an attempt.
type receiver struct {
	parts    map[hash][]byte
	manifest []byte
}

func (r *receiver) take(a jobs.Artefact) {
	if a.Name == generationName {
		r.manifest = a.Bytes
		return
	}
	if r.parts == nil {
		r.parts = map[hash][]byte{}
	}
	r.parts[a.Hash] = a.Bytes
}

// generation returns an error if the manifest cannot be read or a part is missing.
func (r *receiver) generation() (idrl.Generation, error) {
	m, err := pack.Decode[manifest](r.manifest)
	if err != nil {
		return idrl.Generation{}, fmt.Errorf("decode the generation: %w", err)
	}
	g := m.Generation
	for _, id := range slices.Sorted(maps.Keys(m.Drawings)) {
		c, ok := g.Clips[id]
		if c.Media = r.parts[m.Drawings[id]]; !ok || c.Media == nil {
			return idrl.Generation{}, fmt.Errorf("clip %s of generation %d was not handed over", id, g.BasedOn)
		}
		g.Clips[id] = c
	}
	for _, id := range slices.Sorted(maps.Keys(m.Steps)) {
		if g.Steps == nil {
			g.Steps = make(map[idrl.StepsID][]byte, len(m.Steps))
		}
		if g.Steps[id] = r.parts[m.Steps[id]]; g.Steps[id] == nil {
			return idrl.Generation{}, fmt.Errorf("the raw steps %s of generation %d were not handed over", id, g.BasedOn)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Agents)) {
		if g.Agents == nil {
			g.Agents = make(map[string][]byte, len(m.Agents))
		}
		if g.Agents[name] = r.parts[m.Agents[name]]; g.Agents[name] == nil {
			return idrl.Generation{}, fmt.Errorf("the state %q of generation %d was not handed over", name, g.BasedOn)
		}
	}
	return g, nil
}
