//go:build unix

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
	"tiebreak/web/wire"
)

// stuck starts a server whose workers do nothing, with n sessions that wait for their
// first clips, and returns a link for the annotators of each.
func stuck(t *testing.T, n int) (a *app, links []string) {
	t.Helper()
	return stuckIn(t, t.TempDir(), n)
}

// stuckIn is stuck with a data folder.
func stuckIn(t *testing.T, dir string, n int) (a *app, links []string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	a = must.Get(openApp(ctx, dir, envs.Catalogue, site{}, slog.New(slog.DiscardHandler), "sh", "-c", "cat > /dev/null"))(t)
	ts := httptest.NewServer(a.web)
	t.Cleanup(func() {
		_ = a.web.Drain(ctx)
		ts.Close()
		_ = a.close()
	})
	for k := range n {
		spec := must.Get(newSession(ctx, a.db, a.envs(), idrl.SessionSpec{Title: fmt.Sprint("session ", k), Env: "gridworld", Seed: uint64(k)}))(t)
		token := must.Get(a.auth.NewInvitation(ctx, spec.ID, 10, time.Hour))(t)
		links = append(links, ts.URL+"/join/"+token)
	}
	return a, links
}

// waitsFor joins and returns when the server has said what is waited for.
func waitsFor(t *testing.T, link, says string) {
	t.Helper()
	conn := must.Get(client.Dial(t.Context(), link))(t)
	defer conn.Close()
	must.Do(t, conn.Send(&wire.ClientHello{}))
	heard := ""
	for limit := time.Now().Add(loadtest.Wait); !strings.Contains(heard, says); {
		m, err := conn.RecvBy(limit)
		if err != nil {
			t.Fatalf("%v; heard %q, want %q", err, heard, says)
		}
		if m, ok := m.(*wire.Status); ok {
			heard = m.Waiting
		}
	}
}

// workers is how many processes of a server make first clips at once, if nothing else is trained
// (docs/serving.md).
var workers = min(4, runtime.NumCPU()) + 2

// others says that n sessions come first.
func others(n int) string {
	return fmt.Sprintf("The first clips are being made. %d other sessions are before this one.", n)
}

// TestPeopleWhoWaitKnowTheirPlace: in the order in which sessions were opened.
func TestPeopleWhoWaitKnowTheirPlace(t *testing.T) {
	t.Parallel()
	_, links := stuck(t, workers+2)
	for k, link := range links {
		says := "The first clips are being made."
		if k >= workers {
			says = others(k)
		}
		waitsFor(t, link, says)
	}
}

// TestPagesOfThoseWhoWait: the annotator's page and the dashboard tell how many are
// before.
func TestPagesOfThoseWhoWait(t *testing.T) {
	t.Parallel()
	a, links := stuck(t, workers+1)
	for _, link := range links[:workers] {
		waitsFor(t, link, "being made.")
	}
	waitsFor(t, links[workers], others(workers))
	browser := startBrowser(t)
	p := newPerson(t, browser)
	p.open(links[workers])
	p.enter("[data-start]")
	p.wait(fmt.Sprintf("document.body.innerText.includes(%q)", others(workers)))
	p.shot("waiting-annotator")
	p.resize(360, 640)
	p.shot("waiting-annotator-phone")

	sessions := must.Get(a.db.Sessions(t.Context()))(t)
	token := must.Get(a.auth.NewResearcherLink(t.Context(), "Bo"))(t)
	base, _, _ := strings.Cut(links[0], "/join/")
	r := newPerson(t, browser)
	r.open(base + "/signin?token=" + token)
	r.enter("[data-signin]")
	for _, s := range sessions {
		if s.Spec.Title == fmt.Sprint("session ", workers) {
			r.waitFor("[data-new]")
			r.open(base + "/sessions/" + string(s.Spec.ID))
		}
	}
	r.wait(fmt.Sprintf(`document.querySelector("[data-training]")?.textContent.includes("waiting for the trainer, %d other trainings are before this one")`, workers))
	r.shot("waiting-dashboard")
}
