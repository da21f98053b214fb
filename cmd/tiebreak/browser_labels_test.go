package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
	"tiebreak/store"

	"github.com/chromedp/chromedp/kb"
)

// TestBrowserLabels: a researcher sees what was learnt from labels that were imported, and who gave
// them. Of rollouts with pictures people are asked on; of others they are told that there is nothing
// to see.
func TestBrowserLabels(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	for name, seen := range map[string]bool{"seen": true, "unseen": false} {
		t.Run(name, func(t *testing.T) {
			rollouts := filepath.Join(labelSample, "rollouts")
			if seen {
				rollouts = filmedSample(t)
			}
			data, _ := importedLabels(t, rollouts, filepath.Join(labelSample, "uni_rlhf"))
			id, addr := string(learntIn(t, data).rec.Spec.ID), freeAddr(t)
			link := "http://" + addr + "/join/" + newInvitation(t, data, id)
			p := startServer(t, "serve", "--data", data, "--addr", addr)
			r := newTab(t, browser)
			r.open(p.find(t, `Researcher:\s+(\S+)`))
			r.enter("[data-signin]")
			r.waitFor("[data-new]")
			r.open("http://" + addr + "/sessions/" + id + "/learning")
			r.wait("document.body.innerText.includes('240')")
			r.wait("document.querySelector('main').innerText.includes('speed')")
			for _, size := range [][2]int64{{1280, 800}, {390, 844}, {844, 390}} {
				r.resize(size[0], size[1])
				r.noSideways(int(size[0]))
				r.shot(fmt.Sprintf("labels-%s-%dx%d", name, size[0], size[1]))
			}
			b := newPerson(t, browser)
			if seen {
				b.join(link, "Ann")
				b.answer(kb.ArrowLeft)
				return
			}
			b.pardon(regexp.MustCompile(`status of 4\d\d`))
			b.open(link)
			b.wait("document.body.innerText.includes('ended')")
			b.shot("labels-nothing-1280x800")
		})
	}
}

// newInvitation returns the token of a link into a session, also into one that is closed.
func newInvitation(t *testing.T, data, id string) string {
	t.Helper()
	db := must.Get(store.Open(t.Context(), data))(t)
	defer db.Close()
	token := must.Get(auth.New(auth.Config{Store: db}).NewInvitation(t.Context(), idrl.SessionID(id), 5, time.Hour))(t)
	return token
}
