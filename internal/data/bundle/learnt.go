package bundle

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/idrl"
)

func (b *builder) policies(ctx context.Context) (err error) {
	b.known = policyNames{trained: map[int64]int{}, others: map[string]bool{}}
	last := int64(-1)
	if err := b.from.Trainings(ctx, func(t record.Adopted) error {
		if t.Kind == "generation" {
			last = t.BasedOn
		}
		return nil
	}); err != nil {
		return err
	}
	numbers := func(r *policyRow) int { return len(r.Theta) + len(r.Mu) + len(r.Params) }
	b.meta.Counts.Policies, err = writeTable(b, "policies.parquet", numbers, func(add func(policyRow) error) error {
		return b.from.Policies(ctx, func(generation int64, c idrl.Candidate) error {
			b.known.add(string(c.ID))
			return add(policyRow{
				Policy: string(c.ID), Generation: unless(generation < 0, generation), InUse: generation >= 0 && generation == last, Origin: string(c.Origin),
				Theta: c.Theta, Mu: c.Mu, Params: c.Params, Segment: given(c.Clip), Episodes: names(c.Rollouts),
				Acted: given(c.Acted.Policy), Task: given(c.Acted.Task), Start: given(c.Acted.Start),
			})
		})
	})
	return err
}

func (b *builder) trainings(ctx context.Context) error {
	_, err := writeTable(b, "training.parquet", nil, func(add func(trainingRow) error) error {
		return b.from.Trainings(ctx, func(t record.Adopted) error {
			return add(trainingRow{
				Kind: t.Kind, BasedOn: t.BasedOn, Adopted: t.AdoptedAt, Version: unless(t.Version == 0, t.Version),
				Policies: unless(t.Kind != "generation", int64(t.Policies)), Engine: given(t.Engine), At: when(t.At),
			})
		})
	})
	return err
}

// posteriors writes the belief after each row of the log, with its covariance where a
// training began, and at the end.
func (b *builder) posteriors(ctx context.Context) error {
	var decode func(record.Snapshot) (idrl.Posterior, error)
	if b.cfg.Beliefs != nil {
		fits, err := b.from.Fits(ctx)
		if err != nil {
			return err
		}
		if decode, err = b.cfg.Beliefs(b.spec, fits); cannotBe(err) {
			b.meta.Without, decode = append(b.meta.Without, "means and covariances of posterior.parquet: "+err.Error()), nil
		} else if err != nil {
			return err
		}
	}
	began := map[int64]bool{b.meta.Cursor.Seq: true}
	if err := b.from.Trainings(ctx, func(t record.Adopted) error { began[t.BasedOn] = true; return nil }); err != nil {
		return err
	}
	_, err := writeTable(b, "posterior.parquet", func(r *posteriorRow) int { return len(r.Mean) + len(r.Cov) }, func(add func(posteriorRow) error) error {
		return b.from.Snapshots(ctx, b.part, func(s record.Snapshot) error {
			row := newPosteriorRow(&s)
			if decode != nil && s.Belief != nil {
				p, err := decode(s)
				if err != nil {
					return fmt.Errorf("belief after row %d: %w", s.Seq, err)
				}
				if p != nil {
					row.Mean = p.Mean(nil)
					if began[s.Seq] {
						row.Cov = covariance(p)
					}
				}
			}
			return add(row)
		})
	})
	return err
}

func newPosteriorRow(s *record.Snapshot) posteriorRow {
	g := &s.Regret
	none := g.Definition != idrl.RegretDefinition
	return posteriorRow{
		Seq: s.Seq, Definition: int64(s.Definition), Representation: s.Representation, Mean: s.Mean, Cov: square(s.Cov, len(s.Mean)), Policies: unless(none, int64(g.Policies)),
		Within: number(none, g.Within), Bound: number(none, g.Bound), Unbeaten: number(none, g.Unbeaten), Regret: number(none, g.Mean), Span: number(none, g.Span),
	}
}

// covariance returns that of p, row by row.
func covariance(p idrl.Posterior) []float64 {
	d := p.Dim()
	out, unit := make([]float64, d*d), make([]float64, d)
	for i := range d {
		unit[i] = 1
		p.CovMul(out[i*d:(i+1)*d], unit)
		unit[i] = 0
	}
	return out
}

// square returns a symmetric matrix with d rows, row by row, of which upper is the upper triangle;
// nil for nothing.
func square(upper []float64, d int) []float64 {
	if len(upper) != d*(d+1)/2 || d == 0 {
		return nil
	}
	out := make([]float64, d*d)
	for i := range d {
		for j := i; j < d; j++ {
			out[i*d+j], out[j*d+i] = upper[0], upper[0]
			upper = upper[1:]
		}
	}
	return out
}

// learnt writes the reward and the policies.
func (b *builder) learnt(ctx context.Context) error {
	if b.cfg.Learnt == nil {
		return nil
	}
	files, err := b.cfg.Learnt(ctx, b.from)
	if cannotBe(err) {
		b.meta.Without = append(b.meta.Without, "learnt: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := b.content("learnt/"+f.Name, f.Content); err != nil {
			return err
		}
	}
	return nil
}

// policyNames are the ids of policies in little memory, since a long session has millions: of a
// generation how many there are, whose names are g12.p0, g12.p1 and so on, and all others.
type policyNames struct {
	trained map[int64]int // by generation
	others  map[string]bool
}

func (p policyNames) add(id string) {
	if generation, k, ok := trainedName(id); ok {
		p.trained[generation] = max(p.trained[generation], k+1)
		return
	}
	p.others[id] = true
}

func (p policyNames) have(id string) bool {
	if generation, k, ok := trainedName(id); ok {
		return k < p.trained[generation]
	}
	return p.others[id]
}

// trainedName returns the generation and the number in the name of a policy that was trained.
func trainedName(id string) (generation int64, k int, ok bool) {
	rest, is := strings.CutPrefix(id, "g")
	left, right, parts := strings.Cut(rest, ".p")
	generation, err := strconv.ParseInt(left, 10, 64)
	if err == nil {
		k, err = strconv.Atoi(right)
	}
	return generation, k, is && parts && err == nil && fmt.Sprintf("g%d.p%d", generation, k) == id && k >= 0
}
