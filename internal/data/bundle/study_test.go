package bundle_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"testing"
	"time"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/rng"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/store"
)

// A study of known answers: episodes of a point that moves, and two people who prefer what a
// known reward, linear in three features, prefers.
const (
	episodes     = 48
	episodeSteps = 30
	clipSteps    = 10
	study        = idrl.SessionID("study")
)

// weights are those of the reward by which the people of the study answer.
var weights = []float64{2, -1, 0.5}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// episode returns the raw steps of episode n.
func episode(n int) idrl.Steps {
	r := rng.New(7, "episode", uint64(n))
	s := idrl.Steps{Env: "point", Version: 3, Seed: 7, Episode: uint64(n), End: idrl.Truncated}
	if n%4 == 0 {
		s.End = idrl.Terminated
	}
	x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
	single := func(v []float64) (out []float32) {
		for _, f := range v {
			out = append(out, float32(f))
		}
		return out
	}
	s.Obs = append(s.Obs, single(x))
	for range episodeSteps {
		u := []float64{0.3 * r.NormFloat64(), 0.3 * r.NormFloat64()}
		x = []float64{x[0] + 0.1*x[2], x[1] + 0.1*x[3], x[2] + u[0], x[3] + u[1]}
		s.Obs, s.Actions = append(s.Obs, single(x)), append(s.Actions, single(u))
		s.Phi = append(s.Phi, []float64{0.1 * x[2], u[0]*u[0] + u[1]*u[1], math.Tanh(x[1]) / 10})
	}
	return s
}

// acted names the trajectory that episode e is: of one of five policies, or of none, such as a rollout
// that labels were imported for.
func acted(e int) idrl.TrajectoryID {
	if e%6 == 5 {
		return idrl.TrajectoryID(fmt.Sprintf("walk.%d", e/6))
	}
	return idrl.TrajectoryID(fmt.Sprintf("g0.p%d.%d", e%6, e/6))
}

// studied returns a database with the study: n answers, a tie where the clips are about
// equally good, now and then a reply that says nothing, and one answer that is undone.
func studied(t testing.TB, n int) *store.DB {
	t.Helper()
	return studiedIn(t, t.TempDir(), n)
}

// studiedIn is studied in a folder.
func studiedIn(t testing.TB, dir string, n int) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dir)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	spec := settings.Complete(idrl.SessionSpec{
		Authors: "Mary <mary@example.org>; Bob", Licence: "CC-BY-4.0", Recruitment: "By a notice | in \"the\" lab.", Payment: "12 € an hour.",
		ID: study, Title: "Which point moves better? \"Yes\": <this>", Env: "point", Features: []string{"speed", "effort", "height"}, Seed: 7, CreatedAt: t0,
		Instructions: "Prefer speed.\nConfigs: are not a key here.", Acquisition: "uniform",
	})

	must(t, db.CreateSession(t.Context(), spec))
	for _, name := range []string{"Ada-Lovelace", "Grace-Hopper"} {
		_, err := db.CreateAnnotator(t.Context(), study, name)
		must(t, err)
	}
	g := idrl.Generation{Clips: map[idrl.ClipID]idrl.Clip{}, Steps: map[idrl.StepsID][]byte{}, Engine: "Points 1"}
	var clips []idrl.Clip
	for e := range episodes {
		s := episode(e)
		name, content, err := steps.Encode(s)
		must(t, err)
		g.Steps[name] = content
		for start := 0; start < episodeSteps; start += clipSteps {
			c := idrl.Clip{
				ID: idrl.ClipID(fmt.Sprintf("%016x%016x", rng.New(1, "clip", uint64(100*e+start)).Uint64(), e)), From: acted(e),
				Start: start, Steps: clipSteps, Phi: make([]float64, 3), Raw: name, Media: []byte{1, byte(e), byte(start)},
			}
			for _, row := range s.Phi[start : start+clipSteps] {
				for k, v := range row {
					c.Phi[k] += v
				}
			}
			g.Clips[c.ID] = c
			clips = append(clips, c)
		}
	}
	g.Candidates = []idrl.Candidate{{ID: "g0.p0", Origin: idrl.FromMean, Params: []float64{1, 2}, Theta: weights, Mu: []float64{0.5, 1, 2}, Clip: clips[0].ID}}
	for k := 1; k < 5; k++ {
		g.Candidates = append(g.Candidates, idrl.Candidate{ID: idrl.PolicyID(fmt.Sprintf("g0.p%d", k)), Origin: idrl.FromSample, Params: []float64{float64(k), 2}, Theta: weights, Mu: []float64{0.5, 1, 2}})
	}
	var rows []record.Row
	var asked []record.Assignment
	pick := rng.New(7, "question", 0)
	for len(rows) < n {
		a, b := clips[pick.IntN(len(clips))], clips[pick.IntN(len(clips))]
		if a.ID == b.ID {
			continue
		}
		q := idrl.NewComparison(a, b)
		g.Queries = append(g.Queries, q)
		seq := int64(len(rows) + 1)
		who := idrl.AnnotatorID(fmt.Sprintf("a%d", 1+seq%2))
		as := record.Assignment{
			ID: idrl.AssignmentID(fmt.Sprintf("q%d", seq)), N: seq, Query: q, Annotator: who, Left: idrl.SideOf(int(seq % 2)), IssuedAt: t0, LeaseUntil: t0.Add(time.Minute),
			Why: record.Why{First: "g0.p0", Second: "g0.p1", PairStd: 0.5, Info: 0.25},
		}
		asked = append(asked, as)
		u := 0.0
		for k, w := range weights {
			u += w * (a.Phi[k] - b.Phi[k])
		}
		ans := idrl.Answer{
			ID: idrl.AnswerID(fmt.Sprintf("answer-%d", seq)), Seq: seq, Assignment: as.ID, Query: q.ID, Annotator: who, Choice: idrl.ChoseA, Left: as.Left,
			ShownAt: t0, AnsweredAt: t0.Add(time.Second), ReceivedAt: t0.Add(time.Second), ResponseMS: 500 + seq, Loops: 1, Input: "keyboard", Instructions: 1,
		}
		switch {
		case seq%29 == 0:
			ans.Choice, ans.Reason = idrl.Skip, "other"
		case seq%31 == 0:
			ans.Choice = idrl.CantTell
		case math.Abs(u) < 0.15:
			ans.Choice = idrl.Equal
		case u < 0:
			ans.Choice = idrl.ChoseB
		}
		rows = append(rows, record.Row{Answer: ans, After: record.Snapshot{Seq: seq, Definition: record.PosteriorDefinition, Belief: []byte{1, 2, byte(seq)}}})
	}
	must(t, db.Adopt(t.Context(), study, g, 0))
	must(t, db.Issue(t.Context(), study, asked))
	must(t, db.Append(t.Context(), study, rows...))
	undone := idrl.Answer{ID: "undo", Seq: int64(n + 1), Annotator: rows[2].Answer.Annotator, Query: rows[2].Answer.Query, Undoes: rows[2].Answer.ID, ShownAt: t0, AnsweredAt: t0, ReceivedAt: t0.Add(time.Minute)}
	must(t, db.Append(t.Context(), study, record.Row{Answer: undone, After: record.Snapshot{Seq: undone.Seq}}))
	return db
}

// configured returns how the bundle of the study of db is written.
func configured(db *store.DB) bundle.Config {
	return bundle.Config{
		Uncut:   func(context.Context) (bool, error) { return false, nil },
		Program: "tiebreak test",
		Read: func(ctx context.Context, f func(bundle.Source) error) error {
			return db.Read(ctx, study, func(r *store.Reading) error { return f(r) })
		},
		Beliefs: func(idrl.SessionSpec, []record.LearntFit) (func(record.Snapshot) (idrl.Posterior, error), error) {
			return func(s record.Snapshot) (idrl.Posterior, error) { return nil, nil }, nil
		},
		Clip: func(ctx context.Context, w io.Writer, id idrl.ClipID, format string) error {
			b, err := db.ClipMedia(ctx, study, id)
			if err == nil {
				_, err = w.Write(b)
			}
			return err
		},
	}
}

// files is a bundle in memory.
type files map[string]*bytes.Buffer

// Create implements bundle.Sink.
func (f files) Create(name string, _ bool) (io.WriteCloser, error) {
	f[name] = &bytes.Buffer{}
	return nopCloser{f[name]}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// write returns the bundle of the study.
func write(t testing.TB, cfg bundle.Config) files {
	t.Helper()
	out := files{}
	must(t, bundle.Write(t.Context(), out, cfg))
	return out
}
