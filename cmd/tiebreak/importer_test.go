package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"
	"tiebreak/internal/check/waittest"
	"tiebreak/internal/data/lerobot/lerobottest"
	"tiebreak/internal/data/recordings"
)

// manyVideos writes a data set with a video for each episode and camera.
func manyVideos(t *testing.T, folder string) {
	t.Helper()
	d := lerobottest.Dataset{Lengths: []int{8, 9, 10, 12, 9, 8}, PerFile: 1}
	if err := d.Write(folder); err != nil {
		t.Fatal(err)
	}
}

// filesIn returns what is in the files of a folder, by their paths.
func filesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, folder)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKillImport: an import that is killed leaves nothing that is seen. The same command goes on: it checks no video again (there is no
// ffmpeg any more), and the set is that of an import which was left alone.
func TestKillImport(t *testing.T) {
	t.Parallel()
	folder, data, calm := t.TempDir(), t.TempDir(), t.TempDir()
	manyVideos(t, folder)
	args := func(data string) []string {
		return []string{"import", "--lerobot", folder, "--name", "pen", "--data", data, "--policy-column", "policy", "--clip-seconds", "0.5"}
	}
	mustCLI(t, args(calm)...)
	cmd := exec.Command(program(t), args(data)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(stderr); ; {
		said, err := r.ReadString('\r')
		if err != nil {
			t.Fatalf("it ended by itself: %s, %v", said, err)
		}
		if strings.Contains(said, "keeping episode 3") {
			break
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	into := filepath.Join(data, recordings.FolderName)
	if list, err := recordings.List(into); err != nil || len(list) != 0 {
		t.Errorf("%v is seen, %v", list, err)
	}
	again := exec.Command(program(t), args(data)...)
	again.Env = append(os.Environ(), "PATH=/nowhere")
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("it does not go on: %v\n%s", err, out)
	}
	got, want := filesIn(t, into), filesIn(t, filepath.Join(calm, recordings.FolderName))
	if len(got) != len(want) || len(got) != 7 {
		t.Errorf("there are %d files, and %d without the kill", len(got), len(want))
	}
	for name, b := range want {
		if got[name] != b {
			t.Errorf("%s is another one, or is missing", name)
		}
	}
}

// An importingServer is a server that may read a folder, and a token of it.
type importingServer struct {
	t                        *testing.T
	data, shelf, addr, token string
	*process
}

func startImporting(t *testing.T) *importingServer {
	t.Helper()
	s := &importingServer{t: t, data: t.TempDir(), shelf: filepath.Join(t.TempDir(), "shelf"), addr: freeAddr(t)}
	manyVideos(t, filepath.Join(s.shelf, "pens"))
	s.start()
	s.getToken()
	return s
}

func (s *importingServer) getToken() {
	s.t.Helper()
	s.token = strings.TrimSpace(mustCLI(s.t, "token", "new", "--data", s.data, "--scope", "upload", "--days", "1", "--name", "imports"))
	s.token = s.token[strings.Index(s.token, "tbk_"):]
	s.token, _, _ = strings.Cut(s.token, "\n")
}

func (s *importingServer) start() {
	s.process = startServer(s.t, "serve", "--data", s.data, "--addr", s.addr, "--recordings", s.shelf)
}

// ask sends a request of a program, and returns the status and the reply.
func (s *importingServer) ask(method, path string, body any) (int, string) {
	s.t.Helper()
	status, got := askAsProgram(s.t, method, "http://"+s.addr+"/api/v1/recordings"+path, s.token, body)
	return status, string(got)
}

// askAsProgram sends a value as JSON with the token of a program, and returns the status and the reply.
func askAsProgram(t *testing.T, method, url, token string, body any) (status int, reply []byte) {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(must.Get(json.Marshal(body))(t))))(t)
	req.Header.Set("Authorization", "Bearer "+token)
	res := must.Get(http.DefaultClient.Do(req))(t)
	defer res.Body.Close()
	return res.StatusCode, must.Get(io.ReadAll(res.Body))(t)
}

// await waits until the reply about the imports has a text.
func (s *importingServer) await(texts ...string) {
	s.t.Helper()
	waittest.Until(s.t, fmt.Sprintf("a reply with one of %q", texts), func() bool {
		_, got := s.ask(http.MethodGet, "", nil)
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(got, text) })
	})
}

var penImport = map[string]any{"set": "shelf/pens", "name": "pen", "policy_column": "policy", "clip_seconds": 0.5}

// TestImportByRequest: a program imports a data set, which then is an environment of the running server. What is wrong is told, and
// leaves nothing; an import is stopped, and goes on.
func TestImportByRequest(t *testing.T) {
	t.Parallel()
	s := startImporting(t)
	if status, got := s.ask(http.MethodGet, "", nil); status != http.StatusOK || !strings.Contains(got, `"set":"shelf/pens"`) || !strings.Contains(got, `"episodes":6`) || strings.Contains(got, s.shelf) {
		t.Errorf("the list: status %d, %s", status, got)
	}
	with := func(given ...any) map[string]any { // keys and values in turn
		out := maps.Clone(penImport)
		for i := 0; i < len(given); i += 2 {
			out[given[i].(string)] = given[i+1] //nolint:forcetypeassert // of this test
		}
		return out
	}
	if status, got := s.ask(http.MethodPost, "", with("plan_only", true)); status != http.StatusOK || !strings.Contains(got, "6 episodes, 56 frames at 10 a second") || !strings.Contains(got, `"begun":false`) {
		t.Errorf("the plan: status %d, %s", status, got)
	}
	for name, text := range map[string]string{"starts.csv": "episode_index,start\n0,a\n1,a\n2,b\n3,b\n4,c\n5,c\n", "short.csv": "episode_index,start\n0,a\n", "../secret.csv": "episode_index,secret\n"} {
		if err := os.WriteFile(filepath.Join(s.shelf, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.csv", filepath.Join(s.shelf, "away.csv")); err != nil {
		t.Fatal(err)
	}
	if status, got := s.ask(http.MethodPost, "", with("plan_only", true, "episodes_csv", "shelf/starts.csv")); status != http.StatusOK {
		t.Errorf("a table of episodes: status %d, %s", status, got)
	}
	if status, got := s.ask(http.MethodPost, "", with("episodes_csv", "shelf/short.csv")); status != http.StatusBadRequest || !strings.Contains(got, "short.csv has no line for episode 1") {
		t.Errorf("one that is too short: status %d, %s", status, got)
	}
	for _, name := range []string{s.shelf + "/starts.csv", "shelf/../secret.csv", "shelf/away.csv", "shelf/none.csv", "shelf", "shelf/pens", "/etc/passwd", "starts.csv"} {
		if status, got := s.ask(http.MethodPost, "", with("episodes_csv", name)); status != http.StatusBadRequest || strings.Contains(got, s.shelf) && !strings.HasPrefix(name, s.shelf) || strings.Contains(got, `\"secret\"`) {
			t.Errorf("the table %s: status %d, %s", name, status, got)
		}
	}
	for _, wrong := range []map[string]any{with("set", s.shelf+"/pens"), with("set", "shelf/../shelf/pens"), with("name", "../pen"), with("clip_seconds", 61), with("cameras", "back"), with("start_column", "a\u202eb")} {
		if status, got := s.ask(http.MethodPost, "", wrong); status != http.StatusBadRequest || strings.Contains(got, s.data) {
			t.Errorf("%v: status %d, %s", wrong, status, got)
		}
	}
	if status, got := s.ask(http.MethodPost, "", with("policy_column", "who")); status != http.StatusOK {
		t.Errorf("a column of the data, which is looked for later: status %d, %s", status, got)
	}
	s.await(`neither the episodes nor the data have the column \"who\"`)
	if left, _ := filepath.Glob(filepath.Join(s.data, recordings.FolderName, "*")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if status, got := s.ask(http.MethodPost, "", penImport); status != http.StatusOK {
		t.Fatalf("status %d, %s", status, got)
	}
	if status, got := s.ask(http.MethodPost, "", with("name", "other")); status != http.StatusConflict {
		t.Errorf("a second one at a time: status %d, %s", status, got)
	}
	s.await("Checking video ")
	if status, got := s.ask(http.MethodPost, "/stop", map[string]any{"name": "pen"}); status != http.StatusOK {
		t.Errorf("status %d, %s", status, got)
	}
	s.await(`"state":"interrupted"`)
	if status, got := s.ask(http.MethodPost, "", penImport); status != http.StatusOK {
		t.Fatalf("it does not go on: status %d, %s", status, got)
	}
	s.await(`"env":"rollouts-pen"`)
	if status, stdout, stderr := cli(t, "session", "create", "--data", s.data, "--env", "rollouts-pen"); status != 0 {
		t.Errorf("no session can be made: %s%s", stdout, stderr)
	}
	if status, got := s.ask(http.MethodPost, "", penImport); status != http.StatusConflict || !strings.Contains(got, "ollouts-taken") {
		t.Errorf("the name again: status %d, %s", status, got)
	}
}

// TestKillServerWhileItImports: the next server knows of the import, and it goes on there.
func TestKillServerWhileItImports(t *testing.T) {
	t.Parallel()
	s := startImporting(t)
	if status, got := s.ask(http.MethodPost, "", penImport); status != http.StatusOK {
		t.Fatalf("status %d, %s", status, got)
	}
	var late []string
	for k := 4; k <= 12; k++ {
		late = append(late, fmt.Sprintf("Checking video %d ", k))
	}
	s.await(late...)
	s.kill()
	into := filepath.Join(s.data, recordings.FolderName)
	if list, err := recordings.List(into); err != nil || len(list) != 0 {
		t.Errorf("%v is seen, %v", list, err)
	}
	s.start()
	s.await(`"state":"interrupted"`)
	checked, _ := filepath.Glob(filepath.Join(into, ".part-pen-*", "checked.jsonl"))
	if len(checked) != 1 {
		t.Fatalf("nothing is kept of the videos that were checked: %v", checked)
	}
	before, err := os.ReadFile(checked[0])
	if err != nil || bytes.Count(before, []byte("\n")) < 3 {
		t.Errorf("of the videos %q is kept, %v", before, err)
	}
	waittest.Until(t, "the import, which goes on after the process of the first one has ended", func() bool {
		if _, got := s.ask(http.MethodPost, "", penImport); strings.Contains(got, `"begun":true`) {
			s.await(`"state":"imported"`, `"state":"refused"`)
		}
		return s.imported()
	})
	if entries, err := os.ReadDir(into); err != nil || len(entries) != 1 || entries[0].Name() != "pen" {
		t.Errorf("%v is left, %v", entries, err)
	}
}

func (s *importingServer) imported() bool {
	_, got := s.ask(http.MethodGet, "", nil)
	return strings.Contains(got, `"state":"imported"`)
}

// TestFoldersOfRecordings: the flag may be repeated, and is one value in the environment and in a file; a folder that is not there ends the start.
func TestFoldersOfRecordings(t *testing.T) {
	file := writeConfig(t, "recordings: /a, /b\n")
	if out := mustCLI(t, "config", "print", "--config", file); !strings.Contains(out, fmt.Sprintf("recordings: /a,/b  # %s:1\n", file)) {
		t.Errorf("of the file: %s", out)
	}
	t.Setenv("TIEBREAK_RECORDINGS", "/c,/d")
	if out := mustCLI(t, "config", "print", "--config", file); !strings.Contains(out, "recordings: /c,/d  # TIEBREAK_RECORDINGS\n") {
		t.Errorf("of the environment: %s", out)
	}
	if out := mustCLI(t, "config", "print", "--recordings", "/e", "--recordings", "/f"); !strings.Contains(out, "recordings: /e,/f  # --recordings\n") {
		t.Errorf("of the command line: %s", out)
	}
	if status, _, stderr := cli(t, "serve", "--data", t.TempDir(), "--addr", "127.0.0.1:0", "--recordings", "/nowhere/at/all"); status == 0 || !strings.Contains(stderr, `the folder of recordings "/nowhere/at/all" cannot be read`) {
		t.Errorf("status %d, %s", status, stderr)
	}
}
