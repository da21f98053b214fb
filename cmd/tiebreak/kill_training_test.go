//go:build mujoco && linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"database/sql" //nolint:depguard // the row of a job under way, which only the pool reads otherwise

	"tiebreak/internal/check/must"

	"tiebreak/internal/base/pack"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/loadtest"
	"tiebreak/store"
	"tiebreak/web/client"
)

// slowCart writes a model of one's own to a folder and returns it: that of docs/models
// with long episodes, so that the pool of a session takes some seconds, and short
// searches.
func slowCart(t *testing.T) string {
	t.Helper()
	const from = "../../docs/models/cart"
	dir := t.TempDir()
	to := filepath.Join(dir, "cart")
	must.Do(t, os.CopyFS(to, os.DirFS(from)))
	config := filepath.Join(to, "cart.json")
	text := must.Get(os.ReadFile(config))(t)
	search := regexp.MustCompile(`"search": \{.*\}`)
	text = search.ReplaceAll(text, []byte(`"search": {"directions": 2, "episodes": 1, "normalise": true, "live_steps": 5000}`))
	text = bytes.Replace(text, []byte(`"horizon": 300`), []byte(`"horizon": 800`), 1)
	text = bytes.Replace(text, []byte(`"frame_skip": 8`), []byte(`"frame_skip": 2`), 1)
	must.Do(t, os.WriteFile(config, text, 0o600))
	return dir
}

// A robotStudy is a session with a robot on a server of its own, labelled in lockstep.
type robotStudy struct {
	args   []string // of the server
	data   string
	id     idrl.SessionID
	server *process
	conn   *client.Conn
	labels *loadtest.Labeller
}

func newRobotStudy(t *testing.T) *robotStudy {
	t.Helper()
	s := &robotStudy{data: t.TempDir()}
	addr, models := freeAddr(t), slowCart(t)
	id, link := newLink(t, s.data, addr, "--env", "own-cart", "--solver", "own", "--train-every", "3", "--adopt-after", "2", "--seed", "11", "--models", models)
	s.id, s.args = idrl.SessionID(id), []string{"serve", "--data", s.data, "--addr", addr, "--models", models}
	s.server = startServer(t, s.args...)
	conn := must.Get(client.Dial(t.Context(), link))(t)
	t.Cleanup(func() { _ = conn.Close() })
	s.conn, s.labels = conn, loadtest.New(conn, 1)
	s.labels.Heeds = true // what is asked next is then a function of the log, whatever comes first, an acknowledgement or the list
	return s
}

// killServer kills the server, and starts it again on the same folder.
func (s *robotStudy) killServer(t *testing.T) {
	t.Helper()
	s.server.kill()
	s.server = startServer(t, s.args...)
	if err := s.conn.Reconnect(t.Context()); err != nil {
		t.Fatalf("reconnect: %v\n%s", err, s.server.out)
	}
}

// A trainingRow is what the database says of a training.
type trainingRow struct {
	state      string
	attempt    int
	checkpoint []byte
}

// outcomes returns how many finished solves the checkpoint has, beside one that is under way.
func (r trainingRow) outcomes(t *testing.T) int {
	t.Helper()
	if r.checkpoint == nil {
		return 0
	}
	c := must.Get(pack.Decode[struct {
		Payload [sha256.Size]byte
		State   idrl.TrainState
	}](r.checkpoint))(t)
	return len(c.State.Pool) + len(c.State.Solved)
}

// await returns when the training from row basedOn has saved at least n outcomes since it
// was begun for the attempt-th time, and fails if it ends before.
func (s *robotStudy) await(t *testing.T, basedOn, attempt, n int) trainingRow {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+filepath.Join(s.data, store.FileName)+"?mode=ro"))(t)
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), loadtest.Wait)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond) // leaves the processors to the training
	defer again.Stop()
	for ; ; <-again.C {
		var r trainingRow
		const query = `SELECT state, attempt, checkpoint FROM job WHERE session_id = ? AND based_on = ?`
		err := db.QueryRowContext(ctx, query, s.id, basedOn).Scan(&r.state, &r.attempt, &r.checkpoint)
		switch {
		case errors.Is(err, sql.ErrNoRows): // not begun
		case err != nil:
			t.Fatalf("training from row %d: %v; the log says\n%s", basedOn, err, s.server.out)
		case r.state == string(record.JobDone) || r.state == string(record.JobFailed):
			t.Fatalf("training from row %d is %s after attempt %d: nothing was left to interrupt", basedOn, r.state, r.attempt)
		case r.attempt >= attempt && r.outcomes(t) >= n:
			return r
		}
	}
}

// tear kills the workers in the middle of the training from row basedOn, and the server
// when that has gone on.
func (s *robotStudy) tear(t *testing.T, basedOn int) {
	t.Helper()
	half := s.await(t, basedOn, 1, 1)
	s.server.signalWorkers(t, syscall.SIGKILL)
	s.await(t, basedOn, half.attempt+1, half.outcomes(t)+1)
	s.killServer(t)
}

// label goes on until n answers are acknowledged.
func (s *robotStudy) label(t *testing.T, n int) {
	t.Helper()
	if err := s.labels.Label(n); err != nil {
		t.Fatalf("label: %v\n%s", err, s.server.out)
	}
}

// load returns the record of the session, and the database that it stands in.
func (s *robotStudy) load(t *testing.T) (*store.DB, record.Record) {
	t.Helper()
	db := must.Get(store.OpenReadOnly(t.Context(), s.data))(t)
	t.Cleanup(func() { _ = db.Close() })
	rec := must.Get(db.Load(t.Context(), s.id))(t)
	return db, rec
}

// generation returns the bytes of the generation in use, with drawings and raw steps.
func (s *robotStudy) generation(t *testing.T, basedOn int64) []byte {
	t.Helper()
	db, rec := s.load(t)
	g := *rec.Generation
	if g.BasedOn != basedOn {
		t.Fatalf("generation %d is in use, want %d", g.BasedOn, basedOn)
	}
	g.Pool, g.Steps = rec.Pool, map[idrl.StepsID][]byte{}
	var err error
	for id, c := range g.Clips {
		if c.Media, err = db.ClipMedia(t.Context(), s.id, id); err != nil {
			t.Fatal(err)
		}
		if g.Steps[c.Raw], err = db.Steps(t.Context(), s.id, c.Raw); err != nil {
			t.Fatal(err)
		}
		g.Clips[id] = c
	}
	b, err := pack.Encode(&g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// said returns what was asked and answered, a line for each row.
func (s *robotStudy) said(t *testing.T) string {
	t.Helper()
	_, rec := s.load(t)
	var b strings.Builder
	for _, a := range rec.Log {
		fmt.Fprintf(&b, "%d: %s to %s, much %v, doubts %v\n", a.Seq, a.Choice, a.Query, a.Much, a.Doubts)
	}
	return b.String()
}

// went returns how many outcomes of earlier attempts the last attempt at a training used,
// and how many it added, by the log of the server.
func (s *robotStudy) went(t *testing.T, basedOn int) (kept, solved int) {
	t.Helper()
	said := regexp.MustCompile(fmt.Sprintf(`training went on from its checkpoint.*session=%s based_on=%d kept=(\d+) solved=(\d+)`, s.id, basedOn))
	m := said.FindStringSubmatch(s.server.out.String())
	if m == nil {
		t.Fatalf("training from row %d did not go on from a checkpoint; the log says\n%s", basedOn, s.server.out)
	}
	kept, _ = strconv.Atoi(m[1])
	solved, _ = strconv.Atoi(m[2])
	return kept, solved
}

// TestKilledTraining kills the real worker and then the real server in the middle of the
// first training of a robot, and again in the second: each goes on from its checkpoint,
// and the generations have the bytes of a run that was left alone.
func TestKilledTraining(t *testing.T) {
	t.Parallel()
	calm := newRobotStudy(t)
	calm.label(t, 3)
	first := calm.generation(t, 0)
	calm.label(t, 6)
	second := calm.generation(t, 3)
	calm.server.kill()

	torn := newRobotStudy(t)
	torn.tear(t, 0)
	torn.label(t, 3)
	if kept, solved := torn.went(t, 0); kept < 2 || kept+solved != 8 {
		t.Errorf("the first training kept %d policies of the pool and prepared %d, want 8 in all", kept, solved)
	}
	if !bytes.Equal(torn.generation(t, 0), first) {
		t.Error("the kills changed the first generation")
	}
	torn.tear(t, 3)
	torn.label(t, 6)
	if kept, solved := torn.went(t, 3); kept < 2 || kept+solved != 6 {
		t.Errorf("the second training kept %d candidates and solved for %d, want 6 in all", kept, solved)
	}
	if !bytes.Equal(torn.generation(t, 3), second) {
		t.Errorf("the kills changed the second generation; the answers were\n%s\nand without kills\n%s", torn.said(t), calm.said(t))
	}
}
