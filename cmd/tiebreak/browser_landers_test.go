package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/data/recordings/recordingstest"
	"tiebreak/internal/idrl"
	"tiebreak/store"

	"gonum.org/v1/gonum/floats"
)

// A tastingProgram answers questions over the HTTP API by a reward of the features of clips, which
// it reads in the data folder.
type tastingProgram struct {
	t                    *testing.T
	data, url, token, id string
	taste                []float64
	answered             int
}

// call posts body and decodes the reply into out.
func (p *tastingProgram) call(path string, body, out any) {
	p.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+"/api/v1/sessions/"+p.id+path, bytes.NewReader(b))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(out); err != nil || r.StatusCode != http.StatusOK {
		p.t.Fatalf("POST %s: status %d, %v", path, r.StatusCode, err)
	}
}

// answer answers n questions.
func (p *tastingProgram) answer(n int) {
	p.t.Helper()
	again := time.NewTicker(50 * time.Millisecond) // a program may ask 100 times a second
	defer again.Stop()
	for begun := time.Now(); n > 0; {
		var claim struct {
			Open []struct {
				Assignment string
				Clips      []idrl.ClipID
				Left       string
			}
		}
		p.call("/claim", map[string]any{}, &claim)
		if len(claim.Open) == 0 {
			if time.Since(begun) > patience {
				p.t.Fatal("no question came")
			}
			<-again.C
			continue
		}
		as := claim.Open[0]
		choice := "b"
		if floats.Dot(p.taste, p.features(as.Clips[0])) > floats.Dot(p.taste, p.features(as.Clips[1])) {
			choice = "a"
		}
		p.answered, n = p.answered+1, n-1
		var receipt struct{ Seq int64 }
		p.call("/answers", map[string]any{
			"id": fmt.Sprintf("00000000-0000-4000-8000-%012d", p.answered), "assignment": as.Assignment, "choice": choice, "shown_left": as.Left,
			"shown_at": time.Now().UTC(), "answered_ms": 900, "loops": 1, "hidden_ms": 0, "instructions_version": 1,
		}, &receipt)
	}
}

// features returns the sum of the features of a clip that was asked about.
func (p *tastingProgram) features(id idrl.ClipID) []float64 {
	p.t.Helper()
	ro, err := store.OpenReadOnly(p.t.Context(), p.data)
	if err != nil {
		p.t.Fatal(err)
	}
	defer ro.Close()
	rec, err := ro.Load(p.t.Context(), idrl.SessionID(p.id))
	if err != nil {
		p.t.Fatal(err)
	}
	return rec.Clips[id].Phi
}

// TestBrowserLanders: rollouts of unequal length, and answers about parts of one length. The page
// recommends what the answers like, says that the sum over the episode would recommend what
// crashes first, and does not say that one can stop; by the sum likewise, the other way round.
func TestBrowserLanders(t *testing.T) {
	t.Parallel()
	from, data, addr := t.TempDir(), t.TempDir(), freeAddr(t)
	must.Do(t, recordingstest.Landers(from, 0))
	mustCLI(t, "import", "--rollouts", from, "--name", "landers", "--data", data)
	browser := startBrowser(t)
	sessions := map[string]string{} // by the best policy, ids
	for best, flags := range map[string][]string{"lands": nil, "falls": {"--return", "sum"}} {
		sessions[best], _ = newLink(t, data, addr, append([]string{"--env", "rollouts-landers", "--title", best, "--seed", "4"}, flags...)...)
	}
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	b := newPerson(t, browser)
	b.open(server.find(t, `Researcher\S*.*?(http\S+)`))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	for best, id := range sessions {
		token := regexp.MustCompile(`tbk_\S+`).FindString(mustCLI(t, "token", "new", "--data", data, "--scope", "label", "--session", id))
		(&tastingProgram{t: t, data: data, url: "http://" + addr, token: token, id: id, taste: recordingstest.LanderTaste}).answer(20)
		b.open("http://" + addr + "/sessions/" + id + "/learning")
		b.wait("document.querySelector('main').dataset.seq === '20' && document.querySelector('[data-objection=returns]') !== null")
		said := evaluate[string](b, "document.querySelector('[data-statement]').innerText")
		for _, want := range []string{"of the best of the 4 recorded policies, by the", "lands is best by the mean reward of a step, and falls is best by the sum over the episode", "This is not enough to stop"} {
			if !strings.Contains(strings.ReplaceAll(said, "\u00a0", " "), want) {
				t.Errorf("%s: the page lacks %q in\n%s", best, want, said)
			}
		}
		if strings.Contains(said, "You can stop") {
			t.Errorf("%s: one is told to stop:\n%s", best, said)
		}
		b.shot("landers-" + best)
		b.page("overview")
		b.wait(fmt.Sprintf("document.querySelector('[data-playing-name]')?.innerText.startsWith('%s ')", best))
	}
}
