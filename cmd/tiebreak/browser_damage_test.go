package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/envs"
	"tiebreak/store"
)

// TestDamagedClipsInTheBrowser: an annotator is told of a clip that is damaged, reports
// it and goes on; a researcher sees it on every page, and why a session is paused.
func TestDamagedClipsInTheBrowser(t *testing.T) {
	t.Parallel()
	s := newLabelledFolder(t)
	path := filepath.Join(s.dir, store.FileName)
	b := must.Get(os.ReadFile(path))(t)
	for _, at := range regexp.MustCompile("TBC1").FindAllIndex(b, -1) {
		b[at[0]+20] ^= 1
	}
	must.Do(t, os.WriteFile(path, b, 0o600))
	browser := startBrowser(t)
	s.serve(t, envs.Catalogue(), func(a *app, base string) {
		token := must.Get(a.auth.NewInvitation(t.Context(), s.session, 1, time.Hour))(t)
		ann := newPerson(t, browser)
		ann.pardon(regexp.MustCompile(`status of 500`))
		ann.open(base + "/join/" + token)
		ann.enter("[data-start]")
		ann.waitFor("[data-note-broken]")
		ann.wait(`document.querySelector("[data-note-text]").textContent.includes("did not load")`)
		ann.shot("damaged-clip")
		ann.accessible("damaged clip")
		first := ann.data()["assignment"]
		ann.enter("[data-report]")
		ann.wait(fmt.Sprintf(`document.body.dataset.assignment !== %q && document.body.dataset.unsent === "0"`, first))
		ann.waitFor("[data-note-broken]")

		token = must.Get(a.auth.NewResearcherLink(t.Context(), "Ada"))(t)
		ada := newPerson(t, browser)
		ada.open(base + "/signin?token=" + token)
		ada.enter("[data-signin]")
		ada.waitFor("[data-session]")
		ada.until("the check of the database has found the clips", func(context.Context) bool {
			ada.open(base + "/sessions")
			return evaluate[bool](ada, `document.querySelector("[data-problem].minor") !== null`)
		})
		ada.shot("banner")
		ada.accessible("sessions with a problem")
		ann.expectAway(true)
	})
	without := slices.DeleteFunc(envs.Catalogue(), func(e envs.Entry) bool { return e.ID == "driver" })
	s.serve(t, without, func(a *app, base string) {
		token := must.Get(a.auth.NewResearcherLink(t.Context(), "Ada"))(t)
		ada := newPerson(t, browser)
		ada.open(base + "/signin?token=" + token)
		ada.enter("[data-signin]")
		ada.waitFor("[data-session] [data-paused]")
		ada.shot("paused-list")
		ada.enter("[data-session] a")
		ada.waitFor("main[data-paused] [data-recent]")
		ada.shot("paused")
		ada.accessible("paused session")
		ada.noSideways(1280)
		token = must.Get(a.auth.NewInvitation(t.Context(), s.session, 1, time.Hour))(t)
		ann := newPerson(t, browser)
		ann.pardon(regexp.MustCompile(`status of 409`))
		ann.open(base + "/join/" + token)
		ann.waitFor(`main[data-status="409"]`)
		ann.shot("paused-annotator")
		ann.accessible("paused session of an annotator")
	})
}
