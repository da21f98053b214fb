//go:build mujoco

package sac_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"tiebreak/envs/mujoco"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/idrl"
	"tiebreak/internal/lab/sim"

	"gonum.org/v1/gonum/floats"
)

// peerEnv is the variable that makes the test binary serve the named task on its
// standard streams, for the comparison with Stable-Baselines3 (peers/sb3.py).
const peerEnv = "TIEBREAK_SERVE_TASK"

func TestMain(m *testing.M) {
	if id := os.Getenv(peerEnv); id != "" {
		if err := serveTask(id, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveTask plays a task with its true reward for a program on the other end. Numbers are
// little-endian, 64 bits wide. It first writes the numbers of observations and actions,
// the horizon (integers), and the bounds of actions. Then it answers requests: 0 and a
// seed by the observation of a reset; 1 and an action by the observation, the reward,
// and whether the episode has ended (a float).
func serveTask(id string, in io.Reader, out io.Writer) error {
	env, err := mujoco.NewTask(id, mujoco.Options{})
	if err != nil {
		return err
	}
	theta := sim.NewTask(env, nil).Theta
	spec := env.Spec()
	r, w := bufio.NewReader(in), bufio.NewWriter(out)
	actions := spec.Actions
	tell := func(vs ...any) error {
		var errs []error
		for _, v := range vs {
			errs = append(errs, binary.Write(w, binary.LittleEndian, v))
		}
		return errors.Join(append(errs, w.Flush())...)
	}
	err = tell([]int64{int64(spec.ObsDim), int64(actions.Dim()), int64(spec.Horizon)}, actions.Low, actions.High)
	action := make(idrl.Action, actions.Dim())
	for err == nil {
		var request, seed uint64
		if err = binary.Read(r, binary.LittleEndian, &request); err != nil {
			break
		}
		if request == 0 {
			if err = binary.Read(r, binary.LittleEndian, &seed); err == nil {
				err = tell(env.Reset(rng.New(seed, "peer", 0)).Obs)
			}
			continue
		}
		if err = binary.Read(r, binary.LittleEndian, []float64(action)); err == nil {
			step := env.Step(action)
			last := 0.0
			if step.Kind.Last() {
				last = 1
			}
			err = tell(step.Obs, []float64{floats.Dot(theta, step.Phi), last})
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
