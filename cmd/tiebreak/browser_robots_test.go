//go:build mujoco

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tiebreak/envs/mujoco"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserRobots labels every MuJoCo environment, and a model of one's own, by
// keyboard at both sizes.
func TestBrowserRobots(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	const models = "../../docs/models"
	type made struct{ env, kind, id, link string }
	var sessions []made
	for _, l := range mujoco.Catalogue() {
		kind := "clip_comparison"
		if l.ID == mujoco.SwimmerCorridorID || l.ID == mujoco.AntCorridorID {
			kind = "clip_rating" // the paper's question
		}
		sessions = append(sessions, made{env: l.ID, kind: kind})
	}
	sessions = append(sessions, made{env: "own-cart", kind: "clip_comparison"})
	for i := range sessions {
		s := &sessions[i]
		s.id, s.link = newLink(t, data, addr, "--env", s.env, "--kind", s.kind, "--title", s.env, "--models", models)
	}
	startServer(t, "serve", "--data", data, "--addr", addr, "--models", models)
	for _, s := range sessions {
		t.Run(s.env, func(t *testing.T) {
			b := newPerson(t, browser)
			b.join(s.link, "Ada")
			views, key, upright := 2, kb.ArrowLeft, kb.ArrowUp // of a telephone, on which the clips lie one above the other
			if s.kind == "clip_rating" {
				views, key, upright = 1, "7", "7"
			}
			b.fits(1280, 800)
			for range 4 { // a robot may have fallen and lie still for a while
				if b.moves("duo-player canvas") {
					break
				}
				b.answer(kb.ArrowDown)
			}
			b.moving("duo-player canvas", views, 1)
			b.shot(s.env + "-1280x800")
			b.answer(key)
			b.phone()
			b.painted()
			b.wait("innerWidth === 390 && [...document.querySelectorAll('canvas')].every((c) => c.getBoundingClientRect().right <= 390)") // the page arranges them anew
			b.fits(390, 844)
			b.shot(s.env + "-390x844")
			b.answer(upright)
			b.secretive()
			status, rows, errs := cli(t, "export", "--data", data, "--session", s.id)
			if status != 0 || strings.Count(rows, "\n") < 2 {
				t.Errorf("export of at least two answers: status %d, %s\n%s", status, errs, rows)
			}
		})
	}
}

// moves reports whether at least one of the canvases shows something else within
// two seconds than now.
func (b *tab) moves(selector string) bool {
	b.t.Helper()
	pictures := fmt.Sprintf("[...document.querySelectorAll(%q)].map((c) => c.toDataURL()).join()", selector)
	first := evaluate[string](b, pictures)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		if evaluate[string](b, pictures) != first {
			return true
		}
	}
	return false
}
