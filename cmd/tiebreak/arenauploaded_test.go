package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/waittest"
	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/recordings"
	"tiebreak/internal/data/rollouts"
	"tiebreak/internal/idrl"
)

// An uploader is a program that uploads trajectories and makes arenas.
type uploader struct {
	t           *testing.T
	base, token string
	session     string
}

// newUploader makes a session of uploads on a server.
func newUploader(t *testing.T, data, base string) *uploader {
	t.Helper()
	_, token, _ := strings.Cut(mustCLI(t, "token", "new", "--data", data, "--scope", "upload", "--days", "1", "--name", "trainer"), "tbk_")
	u := &uploader{t: t, base: base, token: "tbk_" + strings.Fields(token)[0]}
	u.session = u.post("/sessions", http.StatusOK, map[string]any{"title": "secret-title", "features": []string{"Right"}})["id"].(string)
	return u
}

// post sends a value, and returns the reply, which must have that status.
func (u *uploader) post(path string, status int, body any) (out map[string]any) {
	u.t.Helper()
	got, reply := askAsProgram(u.t, http.MethodPost, u.base+"/api/v1"+path, u.token, body)
	if err := json.Unmarshal(reply, &out); err != nil || got != status {
		u.t.Fatalf("POST %s: status %d, %s, %v", path, got, reply, err)
	}
	return out
}

// upload uploads trajectories of a dot that moves to the right, as far as its policy has it move: policy k moves by k+1 in all.
func (u *uploader) upload(each int, policies ...string) {
	u.t.Helper()
	var list []rollouts.Trajectory
	for k, policy := range policies {
		for n := range each {
			for i, task := range []string{"push the dot", "pull the dot"} {
				one := rollouts.Trajectory{StepSeconds: 0.1, Observations: [][]float64{{0}}, Acted: idrl.Acted{Policy: policy}}
				if policy != "" {
					one.Task = task
					if i == 0 {
						one.Start = fmt.Sprint("seed-", n)
					}
				}
				const steps = 10
				for s := range steps + 1 {
					x := float64((k+1)*s) / steps
					var scene foreign.Scene
					scene.Camera.W, scene.Camera.H = 8, 4
					scene.Static = []foreign.Shape{{Kind: "line", Paint: "mark", Size: 0.05, Points: []float64{-3, -1, 3, -1}}}
					scene.Moving = []foreign.Shape{{Kind: "circle", Paint: "agent", Size: 0.4, Points: []float64{x - 2, float64(n)/4 + float64(i)/2 - 1}}}
					one.Scenes = append(one.Scenes, scene)
					if s > 0 {
						one.Observations, one.Actions, one.Features = append(one.Observations, []float64{x}), append(one.Actions, []float64{1}), append(one.Features, []float64{float64(k+1) / steps})
					}
				}
				list = append(list, one)
			}
		}
	}
	for part := range slices.Chunk(list, rollouts.MaxClips) {
		u.post("/sessions/"+u.session+"/trajectories", http.StatusOK, map[string]any{"trajectories": part})
	}
}

// arena makes an arena by the API.
func (u *uploader) arena(title string) string {
	u.t.Helper()
	return u.post("/arenas", http.StatusOK, map[string]any{"title": title, "entrants": []map[string]any{{"set": u.session}}, "seed": 5})["id"].(string)
}

// keptUploads returns the sets of uploads in a data folder.
func keptUploads(t *testing.T, data string) (sets []string) {
	t.Helper()
	all, err := recordings.List(filepath.Join(data, recordings.FolderName))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		if recordings.OfUpload(recordings.IDPrefix + filepath.Base(dir)) {
			sets = append(sets, filepath.Base(dir))
		}
	}
	return sets
}

// TestArenaOfUploads: people compare policies that acted in uploaded trajectories, made by the form, the API and the command, and are told the task alone.
// Simulated people find the true order. Later uploads change no arena.
func TestArenaOfUploads(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	mustCLI(t, "session", "create", "--data", data, "--env", "gridworld", "--title", "Other")
	p := startServer(t, "serve", "--data", data, "--addr", addr)
	base := "http://" + addr
	u := newUploader(t, data, base)
	v := newVisitor(t)
	v.signIn(signInLink.FindString(p.out.String()))
	u.upload(2, "", "")
	form := url.Values{"title": {"Which?"}, "policy": {u.session + ":secret-slow", u.session + ":secret-fast"}, "task_groups": {"push the dot,hands"}, "detect": {"0"}}
	for _, says := range []string{
		fmt.Sprint(u.post("/arenas", http.StatusBadRequest, map[string]any{"title": "x", "entrants": []map[string]any{{"set": u.session}}})),
		refusedArena(t, data, "--entrants", u.session), refusedArena(t, data, "--entrant", u.session, "--entrant", "gridworld"),
	} {
		if !strings.Contains(says, "names the policy that acted: upload trajectories that name the policy that acted in \"policy\", of two policies or more, with their task in \"task\"") {
			t.Errorf("a session without policies is refused as %s", says)
		}
	}
	if _, status, body := v.page(v.c.PostForm(base+"/arenas", form)); status != http.StatusBadRequest || !strings.Contains(body, "upload trajectories that name the policy") {
		t.Errorf("the form: status %d\n%s", status, mainPart.FindString(body))
	}
	u.upload(3, "secret-slow", "secret-middle", "secret-fast")
	for args, want := range map[string]string{
		u.session + ":nobody": "is called \"nobody\"; it has secret-slow, secret-middle, secret-fast",
		u.session + ":secret-slow --entrant " + u.session + ":secret-slow=Again": "are the same recorded policy",
		u.session + ":secret-slow --entrant rollouts-reach:act":                  "of one session of uploads",
		u.session + ":secret-slow":                                               "2 to 20 policies; got 1",
		u.session + " --entrant gridworld":                                       "recommends no policy: name the policies that acted",
	} {
		if says := refusedArena(t, data, append([]string{"--entrant"}, strings.Fields(args)...)...); !strings.Contains(says, want) {
			t.Errorf("--entrant %s is refused as %s", args, says)
		}
	}

	path, status, page := v.page(v.c.PostForm(base+"/arenas", form))
	_, id, _ := strings.Cut(path, "/sessions/")
	if status != http.StatusOK || !strings.Contains(page, keptSentence) || len(arenaReport(t, data, id).Entrants) != 2 {
		t.Errorf("the form leads to %s, status %d", path, status)
	}
	byCommand, link := newArenaLink(t, data, "--entrants", u.session, "--title", "Blind", "--seed", "5", "--detect", "0")
	byAPI := u.arena("By a program")
	sets := keptUploads(t, data)
	if len(sets) != 1 {
		t.Fatalf("three arenas of the same uploads keep them as %v", sets)
	}
	set := recordings.IDPrefix + sets[0]
	if says := refusedArena(t, data, "--entrants", set); !strings.Contains(says, "name the session of the upload") {
		t.Errorf("the kept set is refused as %s", says)
	}
	if status, _, says := cli(t, "session", "create", "--data", data, "--env", set); status == 0 || !strings.Contains(says, "kept for arenas") {
		t.Errorf("a session about the kept set: status %d, %s", status, says)
	}
	if _, _, body := v.page(v.c.Get(base + "/sessions/new")); strings.Contains(body, sets[0]) {
		t.Error("the form of a session offers what was kept for arenas")
	}

	var heard strings.Builder
	l := join(t, link, 21)
	listenTo(t, l, &heard)
	readPages(t, link, byCommand, &heard)
	if err := l.Label(8); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	own := join(t, mustInvite(t, data, u.session), 22) // the session of the uploads itself
	listenTo(t, own, &heard)
	if err := own.Label(12); err != nil {
		t.Fatalf("%v\n%s", err, p.out)
	}
	for _, secret := range []string{"secret", "seed-", "hands", `"e1"`} {
		if said := heard.String(); strings.Contains(said, secret) {
			at := strings.Index(said, secret)
			t.Errorf("an annotator is told %q: …%q…", secret, said[max(0, at-80):min(len(said), at+80)])
		}
	}
	if !strings.Contains(heard.String(), "Task: push the dot") {
		t.Error("an annotator is not told the task")
	}
	r := arenaReport(t, data, byCommand)
	if q := r.Pairing; len(r.Tasks) != 2 || q == nil || q.MatchedTasks != 1 || q.RandomTasks != 1 || r.Entrants[0].Session != idrl.SessionID(u.session) {
		t.Errorf("the pairing is %+v in %+v", r.Pairing, r.Tasks)
	}

	asked := r.Asked
	u.upload(4, "secret-slow", "secret-middle", "secret-fast", "secret-late")
	for _, arena := range []string{byCommand, byAPI} {
		if r := arenaReport(t, data, arena); r.Asked != asked || len(r.Entrants) != 3 {
			t.Errorf("after another upload the arena asks %d questions about %d policies", r.Asked, len(r.Entrants))
		}
	}
	later := u.arena("Later")
	if n := len(arenaReport(t, data, later).Entrants); n != 4 || len(keptUploads(t, data)) != 2 {
		t.Errorf("a later arena has %d policies, and %v are kept", n, keptUploads(t, data))
	}
	said := mustCLI(t, "simulate", "--url", mustInvite(t, data, later), "--data", data, "--expert", "perfect", "--seed", "7", "--answers", "40")
	if !strings.Contains(said, "6 of 6 pairs are in the order of the true reward.") {
		t.Errorf("a perfect person:\n%s", said)
	}
	exportsActed(t, data, u.session)
}

// keptSentence stands on the page of an arena of uploads: later uploads do not change it.
const keptSentence = "later uploads do not change it"

// refusedArena returns why the command makes no arena of these arguments.
func refusedArena(t *testing.T, data string, args ...string) string {
	t.Helper()
	status, _, stderr := cli(t, append([]string{"arena", "new", "--data", data}, args...)...)
	if status == 0 {
		t.Errorf("there is an arena of %v", args)
	}
	return stderr
}

// mustInvite returns a link for an annotator.
func mustInvite(t *testing.T, data, session string) string {
	t.Helper()
	out := mustCLI(t, "invite", "new", "--data", data, "--session", session)
	return out[strings.Index(out, "http"):][:strings.IndexAny(out[strings.Index(out, "http"):], " \n")]
}

// exportsActed checks that a bundle of a session says what its uploads said.
func exportsActed(t *testing.T, data, session string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bundle.zip")
	mustCLI(t, "export", "--data", data, "--session", session, "--format", "bundle", "--out", path)
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if !strings.HasSuffix(f.Name, "tiebreak/policy.jsonl") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		for _, want := range []string{"secret-slow", "push the dot", "seed-2"} {
			if err != nil || !bytes.Contains(text, []byte(want)) {
				t.Errorf("the bundle does not say %q, %v", want, err)
			}
		}
		return
	}
	t.Error("the bundle has no policies")
}

// TestArenaOfUploadsSurvivesKill: a command that is killed while it keeps uploads leaves neither an arena nor a set, and the next one makes both.
func TestArenaOfUploadsSurvivesKill(t *testing.T) {
	t.Parallel()
	data, addr := t.TempDir(), freeAddr(t)
	mustCLI(t, "session", "create", "--data", data, "--env", "gridworld", "--title", "Other")
	startServer(t, "serve", "--data", data, "--addr", addr)
	u := newUploader(t, data, "http://"+addr)
	u.upload(20, "old", "new")
	into := filepath.Join(data, recordings.FolderName)
	for range 3 {
		cmd := exec.Command(program(t), "arena", "new", "--data", data, "--entrants", u.session) //nolint:noctx // it is killed
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "a file of the set, or its end", func() bool {
			begun, err := filepath.Glob(filepath.Join(into, "*", "*.numbers"))
			return err == nil && len(begun) > 0
		})
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		for _, set := range keptUploads(t, data) {
			if _, err := recordings.Open(filepath.Join(into, set)); err != nil {
				t.Errorf("there is half of a set: %v", err)
			}
		}
		left, err := filepath.Glob(filepath.Join(into, ".new-*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, dir := range left {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
	id := u.arena("Whole")
	if r := arenaReport(t, data, id); len(r.Entrants) != 2 || r.Pairing == nil && len(r.Tasks) != 2 || len(keptUploads(t, data)) != 1 {
		t.Errorf("afterwards the arena is %+v", r)
	}
}
