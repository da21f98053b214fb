package main

import (
	"maps"
	"strings"
	"sync"

	"tiebreak/envs"
	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/draw"
	"tiebreak/internal/train/training"
	"tiebreak/templates"
	"tiebreak/web"
)

// choices are the environments as pages show them. All methods are safe for concurrent use.
type choices struct {
	list func() envs.List

	mu   sync.Mutex
	made map[string]web.EnvChoice // of available environments, by Entry.Ref; guarded by mu
}

// all returns the available environments.
func (s *choices) all() (out []web.EnvChoice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there := map[string]bool{}
	for _, e := range s.list() {
		if there[e.Ref()] = true; recordings.OfUpload(e.ID) {
			continue // no form offers them
		}
		out = append(out, s.choice(e))
	}
	maps.DeleteFunc(s.made, func(ref string, _ web.EnvChoice) bool { return !there[ref] })
	return out
}

// one returns an environment, without making the others: a robot takes 20 MB.
func (s *choices) one(id string) (web.EnvChoice, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.list() {
		if e.ID == id {
			return s.choice(e), true
		}
	}
	return web.EnvChoice{}, false
}

// choice returns an environment as pages show it. The caller must hold mu.
func (s *choices) choice(e envs.Entry) web.EnvChoice {
	about := e.Description
	if e.Uncaged != "" {
		about += " " + e.Uncaged
	}
	if e.Unavailable != nil {
		return web.EnvChoice{ID: e.ID, Title: e.Title, Description: about, Unavailable: e.Unavailable.Error(), Own: isOwn(e)}
	}
	c, ok := s.made[e.Ref()]
	if !ok {
		env := e.New(rng.New(0, "layout", 0))
		c = web.EnvChoice{
			ID: e.ID, Title: e.Title, Description: about, StillLabel: env.Spec().StillLabel, Guide: guideFor(env),
			Runs: runs(e, env), Own: isOwn(e), Shown: !e.Outside(),
		}
		if training.CheckShown(envs.List{e}, idrl.SessionSpec{Env: e.ID}) != nil {
			c.Unavailable = "cannot be asked about: these rollouts have no pictures"
		}
		s.made[e.Ref()] = c
	}
	return c
}

// isOwn reports whether an environment does not come with the program.
func isOwn(e envs.Entry) bool {
	return e.Version != "" || e.Outside() || strings.HasPrefix(e.ID, recordings.IDPrefix)
}

// runs says what it takes to run an environment, for people.
func runs(e envs.Entry, env idrl.Environment) string {
	_, tabular := env.(idrl.Tabular)
	_, smooth := env.(idrl.Differentiable)
	switch {
	case e.Outside():
		return "Your program runs here; policies are searched for while people answer."
	case strings.HasPrefix(e.ID, recordings.IDPrefix):
		return "Nothing is trained: the policies are those of the recordings."
	case e.Engine != "":
		return "Runs in " + e.Engine + ", found here; policies are searched for while people answer."
	case tabular:
		return "Needs nothing else; policies are computed exactly."
	case smooth:
		return "Needs nothing else; policies are optimised while people answer."
	}
	return "Policies are searched for while people answer."
}

// guideFor returns the guide of an environment.
func guideFor(env idrl.Environment) (g templates.Guide) {
	guided, ok := env.(drawing.Guided)
	if !ok {
		return g
	}
	guide := guided.Guide()
	g.Purpose, g.Look = guide.Purpose, guide.Look
	for _, e := range guide.Legend {
		g.Legend = append(g.Legend, templates.Figure{Name: e.Name, SVG: draw.SVG(&e.Scene), Text: e.Text})
	}
	for _, e := range guide.Purposes {
		f := templates.Figure{Name: e.Name, Text: e.Text}
		if e.Scene.Camera.W > 0 {
			f.SVG = draw.SVG(&e.Scene)
		}
		g.Purposes = append(g.Purposes, f)
	}
	return g
}
