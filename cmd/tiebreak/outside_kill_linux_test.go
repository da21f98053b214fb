package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tiebreak/internal/check/must"

	"tiebreak/internal/lab/loadtest"
	"tiebreak/web/client"
)

// hangingScript is an environment that hangs once it is used, with the pipe $PIPE open.
const hangingScript = `read -r line
echo '{"id":1,"result":{"protocol":1,"name":"hang","version":"1","observation":1,"action":{"low":[-1],"high":[1]},"features":["a"],"horizon":20,"step_seconds":0.1,"draws":"picture"}}'
read -r line || exit 0
exec 3> "$PIPE"
echo $$ >&3
exec sleep 600
`

// pipeOf reads the pipe of processes that hang. hangs receives the id of the first one, and gone
// is closed when there are none.
func pipeOf(path string) (hangs chan int, gone chan struct{}) {
	hangs, gone = make(chan int, 1), make(chan struct{})
	go func() {
		defer close(gone)
		f, err := os.Open(path) // waits for a process that writes
		if err != nil {
			return
		}
		defer f.Close()
		r := bufio.NewReader(f)
		pid := 0
		_, _ = fmt.Fscanln(r, &pid) // 0 is reported below
		hangs <- pid
		_, _ = io.Copy(io.Discard, r)
	}()
	return hangs, gone
}

// An environment that hangs behind a shell while a worker trains is gone soon after the server:
// also if that was killed.
func TestOutsideEndsWithTheServer(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"asked to stop": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			dir, addr := t.TempDir(), freeAddr(t)
			pipe, path := filepath.Join(dir, "pipe"), filepath.Join(dir, "hang.json")
			must.Do(t, syscall.Mkfifo(pipe, 0o600))
			for file, text := range map[string]string{
				path:                          `{"command": ["sh", "-c", "sh hang.sh; exit $?"], "environment": {"PIPE": "` + pipe + `"}, "answer_seconds": 600}`,
				filepath.Join(dir, "hang.sh"): hangingScript,
			} {
				must.Do(t, os.WriteFile(file, []byte(text), 0o600))
			}
			data := filepath.Join(dir, "data")
			_, link := newLink(t, data, addr, "--env", "outside-hang", "--outside", path)
			hangs, gone := pipeOf(pipe)
			p := startServer(t, "serve", "--data", data, "--addr", addr, "--outside", path)
			conn := must.Get(client.Dial(t.Context(), link))(t)
			defer conn.Close()
			go func() { _ = loadtest.New(conn, 1).Label(1) }() // has the session begin; there are no questions

			select {
			case pid := <-hangs:
				t.Cleanup(func() {
					if t.Failed() && pid > 0 {
						_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
					}
				})
			case <-time.After(patience):
				t.Fatalf("no training began in %v:\n%s", patience, p.out)
			}
			must.Do(t, p.cmd.Process.Signal(signal))
			for what, done := range map[string]<-chan struct{}{"server": p.done, "environment": gone} {
				select {
				case <-done:
				case <-time.After(patience):
					t.Errorf("the %s has not ended after %v:\n%s", what, patience, p.out)
				}
			}
			if code := p.cmd.ProcessState.ExitCode(); signal == syscall.SIGTERM && code != 0 {
				t.Errorf("exit status %d:\n%s", code, p.out)
			}
		})
	}
}
