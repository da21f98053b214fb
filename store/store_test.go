package store_test

import (
	"fmt"
	"testing"
	"time"

	"tiebreak/internal/idrl"
	"tiebreak/store"
)

func open(t testing.TB, dir string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

var t0 = time.Date(2026, 5, 4, 3, 2, 1, 123456789, time.UTC)

// clip returns a moving clip with features phi.
func clip(name string, phi ...float64) idrl.Clip {
	return idrl.Clip{ID: idrl.ClipID(name), From: "t-" + idrl.TrajectoryID(name), Start: 1, Steps: 4, Phi: phi, Media: []byte("media of " + name)}
}

// generation returns three candidates with a clip each, compared in pairs.
func generation(basedOn int64) idrl.Generation {
	g := idrl.Generation{BasedOn: basedOn, Clips: map[idrl.ClipID]idrl.Clip{}}
	var cs []idrl.Clip
	for k, phi := range [][]float64{{1, 2}, {-0.5, 1e-300}, {3, 0.1}} {
		c := clip(fmt.Sprintf("c%d", k), phi...)
		cs, g.Clips[c.ID] = append(cs, c), c
		g.Candidates = append(g.Candidates, idrl.Candidate{
			ID: idrl.PolicyID(fmt.Sprintf("g%d.p%d", basedOn, k)), Origin: idrl.FromSample,
			Params: []float64{float64(k), 7}, Theta: []float64{0.25, -1}, Mu: phi, Clip: c.ID,
		})
	}
	g.Candidates[2].Origin = idrl.FromMean
	if basedOn == 0 {
		g.Pool = []idrl.Candidate{
			{ID: "pool.p0", Origin: idrl.FromPrior, Mu: []float64{4, -4}, Clip: "c1"}, {ID: "pool.p1", Origin: idrl.FromPrior, Mu: []float64{0, 8}},
		}
	}
	g.Queries = []idrl.Query{idrl.NewComparison(cs[0], cs[1]), idrl.NewComparison(cs[2], cs[0]), idrl.NewRating(cs[1])}
	return g
}

func assignment(n int64, q idrl.Query, who idrl.AnnotatorID) idrl.Assignment {
	return idrl.Assignment{
		ID: idrl.AssignmentID(fmt.Sprintf("s%d", n)), N: n, Query: q, Annotator: who, Left: idrl.SideB,
		IssuedAt: t0, LeaseUntil: t0.Add(time.Minute),
		Why: idrl.Why{First: "g0.p0", Second: "g0.p2", Rivals: 4, PairStd: 0.5, Info: 0.125, BasedOn: 0, AfterSeq: n - 1},
	}
}

func answer(seq int64, a idrl.Assignment) idrl.Answer {
	return idrl.Answer{
		ID: idrl.AnswerID(fmt.Sprintf("id%d", seq)), Seq: seq, Assignment: a.ID, Query: a.Query.ID, Annotator: a.Annotator,
		Choice: idrl.ChoseA, Left: a.Left, ShownAt: t0, AnsweredAt: t0.Add(time.Second), ReceivedAt: t0.Add(2 * time.Second),
		ResponseMS: 900, HiddenMS: 100, Loops: 2, Input: "keyboard", Instructions: 1, Late: true,
		Doubts: idrl.DoubtSide | idrl.DoubtHaste,
	}
}

func snapshot(seq int64) idrl.Snapshot {
	return idrl.Snapshot{Seq: seq, Belief: []byte{byte(seq), 0, 255}, Regret: idrl.Regret{Seq: seq, Definition: idrl.RegretDefinition, Policies: 9, Within: 0.75, Bound: 0.25, Unbeaten: 0.5, Mean: 0.125, Span: 30}}
}

func spec(id string) idrl.SessionSpec {
	return idrl.SessionSpec{ID: idrl.SessionID(id), Title: "Überholen", Env: "driver", Seed: 1<<63 + 11, Budget: 30, CreatedAt: t0}.WithDefaults()
}

// seeded returns a database with session "s", annotators a1 and a2, and a
// generation in use.
func seeded(t testing.TB, dir string) *store.DB {
	t.Helper()
	db := open(t, dir)
	must(t, db.CreateSession(t.Context(), spec("s")))
	for range 2 {
		if _, err := db.CreateAnnotator(t.Context(), "s", "Ada"); err != nil {
			t.Fatal(err)
		}
	}
	must(t, db.Adopt(t.Context(), "s", generation(0), 0))
	return db
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantKind fails unless err is of kind k.
func wantKind(t testing.TB, err error, k idrl.Kind) {
	t.Helper()
	if err == nil || idrl.KindOf(err) != k {
		t.Errorf("error = %v (kind %d), want kind %d", err, idrl.KindOf(err), k)
	}
}
