package questionstest

import (
	"context"
	"fmt"
	"testing"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// A Shelf holds the drawn forms of clips by their names.
type Shelf map[idrl.ClipID][]byte

// Media implements questions.Media.
func (s Shelf) Media(_ context.Context, id idrl.ClipID) ([]byte, error) {
	if b := s[id]; b != nil {
		return b, nil
	}
	return nil, idrl.Errorf(idrl.NotFound, "there is no clip %q", id)
}

// An Env is one whose snapshots are a field and a time, as those of envs/chain are.
type Env interface {
	idrl.Environment
	idrl.Snapshotter
	drawing.Drawer
}

// Walk returns the drawing of a walk over fields of env, with a note over it.
func Walk(t *testing.T, env Env, note string, fields ...int) []byte {
	t.Helper()
	c := idrl.Clip{Steps: len(fields) - 1, Phi: make([]float64, env.Spec().FeatureDim())}
	for i, f := range fields {
		c.Snapshots = append(c.Snapshots, []float64{float64(f), float64(i)})
	}
	b, err := clip.Encode(telling{env, note}, c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// telling is an environment with a note.
type telling struct {
	Env
	note string
}

func (t telling) Narrate(_, _ []float64) string { return t.note }

// Ask returns a reply of an annotator about clips.
func Ask(seq int64, who idrl.AnnotatorID, choice idrl.Choice, clips ...idrl.ClipID) record.Labelled {
	q := idrl.Query{ID: idrl.QueryID(fmt.Sprint(clips)), Kind: idrl.RateClip, Clips: clips}
	left := idrl.Side("")
	if len(clips) == 2 {
		q.Kind, left = idrl.CompareClips, idrl.SideA
	}
	return record.Labelled{
		Query:  q,
		Answer: idrl.Answer{ID: idrl.AnswerID(fmt.Sprint("answer ", seq)), Seq: seq, Annotator: who, Choice: choice, Left: left, ResponseMS: 1000 * seq},
		Why:    record.Why{Answerable: 0.75, First: "g0.p1", Second: "g0.p2", Info: 0.125, PairStd: 2, BasedOn: 0, AfterSeq: seq - 1},
	}
}
