package sac_test

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"testing"

	"tiebreak/envs/envtest/pointmass"
	"tiebreak/internal/idrl"
	"tiebreak/internal/plan/sac"
)

// tiny returns a configuration whose checkpoints are a few kilobytes.
func tiny() sac.Config {
	s := small()
	s.Hidden, s.Batch, s.Starts, s.Replay = []int{3}, 4, 10, 40
	return sac.Config{Settings: s, Env: pointmass.New(pointmass.Config{}), Reward: nearness, Seed: 1}
}

func TestResumeRefuses(t *testing.T) {
	a := newAgent(t, tiny())
	run(t, a, 30)
	b := checkpoint(t, a)
	for _, test := range []struct {
		name   string
		change func(*sac.Config)
		bytes  []byte
		want   idrl.Kind
	}{
		{"nothing", nil, nil, idrl.Damaged},
		{"cut off", nil, b[:len(b)/2], idrl.Damaged},
		{"a flipped bit", nil, flip(b, len(b)/2), idrl.Damaged},
		{"another seed", func(c *sac.Config) { c.Seed = 2 }, b, idrl.Invalid},
		{"other layers", func(c *sac.Config) { c.Settings.Hidden = []int{4} }, b, idrl.Invalid},
		{"another horizon", func(c *sac.Config) { c.Env = pointmass.New(pointmass.Config{Horizon: 70}) }, b, idrl.Invalid},
		{"wrong settings", func(c *sac.Config) { c.Settings.Batch = 0 }, b, idrl.Invalid},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := tiny()
			if test.change != nil {
				test.change(&c)
			}
			if _, err := sac.Resume(c, test.bytes); err == nil || idrl.KindOf(err) != test.want {
				t.Errorf("error %v, want kind %v", err, test.want)
			}
		})
	}
}

func flip(b []byte, i int) []byte {
	b = slices.Clone(b)
	b[i] ^= 1
	return b
}

// FuzzResume changes a checkpoint and makes its checksum right again: it is refused with
// an error, or gives an agent.
func FuzzResume(f *testing.F) {
	a := newAgent(f, tiny())
	run(f, a, 30)
	good := checkpoint(f, a)
	f.Add(0, byte(0), 0)
	f.Add(20, byte(255), 0)
	f.Add(len(good)/2, byte(255), 100)
	f.Fuzz(func(t *testing.T, at int, value byte, cut int) {
		b := slices.Clone(good[:max(4, len(good)-max(0, cut%len(good)))])
		b[max(0, at%len(b))] = value
		body := b[:len(b)-4]
		binary.LittleEndian.PutUint32(b[len(body):], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		resumed, err := sac.Resume(tiny(), b)
		if err != nil {
			if kind := idrl.KindOf(err); kind != idrl.Damaged && kind != idrl.Invalid {
				t.Errorf("an error of kind %v: %v", kind, err)
			}
			return
		}
		checkpoint(t, resumed)
		resumed.Policy(false)
	})
}
