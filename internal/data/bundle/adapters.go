package bundle

import (
	"context"
	"fmt"
	"io"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
)

// maxIPL is how many bytes of arrays ipl.npz may hold: it repeats the steps of each
// comparison, other than the rest.
const maxIPL = 4 << 30

// adapters writes the files that other libraries read. Which numbers stand for which
// preference differs between them: see polarities.
func (b *builder) adapters(ctx context.Context) error {
	if err := b.file("adapters/labels.csv", func(w io.Writer) error { return export.Write(w, "csv", b.spec, b.rows(ctx)) }); err != nil {
		return err
	}
	if err := b.file("adapters/trl.jsonl", func(w io.Writer) error { return b.trl(ctx, w) }); err != nil {
		return err
	}
	if b.shape.moving == 0 {
		b.meta.Without = append(b.meta.Without, "adapters/imitation.npz, adapters/ipl.npz and adapters/uni_rlhf: there are no comparisons of moving clips whose raw steps are kept")
		return nil
	}
	a := &arrays{b: b, cache: map[idrl.StepsID]idrl.Steps{}}
	c := &b.meta.Counts
	c.Length, c.Usable = b.shape.common()
	c.Without = c.Comparisons - c.Usable
	if err := a.gather(ctx); err != nil {
		return err
	}
	if err := a.imitation(ctx); err != nil {
		return err
	}
	if err := a.uniRLHF(ctx); err != nil {
		return err
	}
	if c.Usable == 0 {
		b.meta.Without = append(b.meta.Without, "adapters/ipl.npz: no comparison is of two segments of equal length")
		return nil
	}
	if bytes := 8 * c.Usable * c.Length * (b.shape.obs + b.shape.actions); bytes > maxIPL {
		b.meta.Without = append(b.meta.Without, fmt.Sprintf("adapters/ipl.npz: it would have %d GB, as it repeats the steps of every comparison", bytes>>30))
		return nil
	}
	return a.ipl(ctx)
}

// arrays writes the adapters that are arrays.
type arrays struct {
	b     *builder
	cache map[idrl.StepsID]idrl.Steps

	place    index // of each segment, in their order
	lengths  []int64
	begins   []int32 // of segments among all steps; -1 if these are not there
	terminal []bool
	pairs    []pairOf // comparisons of moving clips, in their order
}

// A pairOf is what the small arrays say of a comparison. There may be a million.
type pairOf struct {
	row    int32    // of comparisons.parquet
	places [2]int32 // of the segments
	prob   float32  // that the first is preferred
}

// gather reads all comparisons and segments once.
func (a *arrays) gather(ctx context.Context) error {
	if err := a.segments(ctx, func(c *idrl.Clip) error {
		s, err := a.steps(ctx, c.Raw)
		begin := -1
		if from, is := a.b.shape.episodes.of(hashOf(string(c.Raw))); is {
			begin = from + c.Start
		}
		a.place.add(hashOf(string(c.ID)), len(a.lengths))
		a.begins = append(a.begins, int32(begin)) //nolint:gosec // fewer than 2^31 steps
		a.lengths, a.terminal = append(a.lengths, int64(c.Steps)), append(a.terminal, s.End == idrl.Terminated && c.Start+c.Steps == s.Len())
		return err
	}); err != nil {
		return err
	}
	a.pairs = make([]pairOf, 0, a.b.shape.moving)
	return a.moving(ctx, 0, func(n int, r *record.Labelled) error {
		prob, _ := r.Answer.ProbA()
		p := pairOf{row: int32(n), prob: float32(prob)} //nolint:gosec // fewer than 2^31 answers
		for side := range p.places {
			c := &r.Clips[side]
			at, is := a.place.of(hashOf(string(c.ID)))
			if !is || a.begins[at] < 0 {
				return idrl.Errorf(idrl.Internal, "clip %s of a comparison is no segment of a trajectory", c.ID)
			}
			p.places[side] = int32(at) //nolint:gosec // as above
		}
		a.pairs = append(a.pairs, p)
		return nil
	})
}

// each returns what fills an array with numbers of each comparison, of those with the common
// length alone if common is true.
func (a *arrays) each(common bool, write func(p *numbersTo, of *pairOf) error) func(*numbersTo) error {
	length := int64(a.b.meta.Counts.Length)
	return func(p *numbersTo) error {
		for i := range a.pairs {
			of := &a.pairs[i]
			if common && (a.lengths[of.places[0]] != length || a.lengths[of.places[1]] != length) {
				continue
			}
			if err := write(p, of); err != nil {
				return err
			}
		}
		return nil
	}
}

// maxCache is how many trajectories are kept decoded.
const maxCache = 64

func (a *arrays) steps(ctx context.Context, name idrl.StepsID) (idrl.Steps, error) {
	if s, ok := a.cache[name]; ok {
		return s, nil
	}
	content, err := a.b.from.Steps(ctx, name)
	if err != nil {
		return idrl.Steps{}, err
	}
	s, err := steps.Decode(name, content)
	if len(a.cache) >= maxCache {
		clear(a.cache)
	}
	a.cache[name] = s
	return s, err
}

// moving calls yield with the comparisons of moving clips, all if length is 0, and with their
// number in comparisons.parquet, from 0.
func (a *arrays) moving(ctx context.Context, length int, yield func(n int, r *record.Labelled) error) error {
	n := -1
	return a.b.pairs(ctx, func(r *record.Labelled) error {
		n++
		if !moving(r) || length > 0 && (r.Clips[0].Steps != length || r.Clips[1].Steps != length) {
			return nil
		}
		return yield(n, r)
	})
}

// segments calls yield with the moving clips that have raw steps.
func (a *arrays) segments(ctx context.Context, yield func(*idrl.Clip) error) error {
	return a.b.from.Clips(ctx, a.b.part, func(c idrl.Clip, _ bool) error {
		if c.Raw == "" || c.Steps == 0 {
			return nil
		}
		return yield(&c)
	})
}

// rows returns what fills an array with rows of each segment.
func (a *arrays) rows(ctx context.Context, of func(s *idrl.Steps, c *idrl.Clip) [][]float32) func(*numbersTo) error {
	return func(p *numbersTo) error {
		return a.segments(ctx, func(c *idrl.Clip) error {
			s, err := a.steps(ctx, c.Raw)
			if err != nil {
				return err
			}
			for _, row := range of(&s, c) {
				if err := p.float32(row...); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// imitation writes every segment once, and pairs of them with preferences.
func (a *arrays) imitation(ctx context.Context) error {
	total := 0
	for _, n := range a.lengths {
		total += int(n)
	}
	n, lengths, terminal := len(a.pairs), a.lengths, a.terminal
	of := func(side int) func(*numbersTo) error {
		return a.each(false, func(p *numbersTo, of *pairOf) error { return p.int64(int64(of.places[side])) })
	}
	list := []array{
		{"obs", "<f4", []int{total + len(lengths), a.b.shape.obs}, a.rows(ctx, func(s *idrl.Steps, c *idrl.Clip) [][]float32 { return s.Obs[c.Start : c.Start+c.Steps+1] })},
		{"acts", "<f4", []int{total, a.b.shape.actions}, a.rows(ctx, func(s *idrl.Steps, c *idrl.Clip) [][]float32 { return s.Actions[c.Start : c.Start+c.Steps] })},
		{"lengths", "<i8", []int{len(lengths)}, func(p *numbersTo) error { return p.int64(lengths...) }},
		{"terminal", "|b1", []int{len(terminal)}, func(p *numbersTo) error { return p.bool(terminal...) }},
		{"first", "<i8", []int{n}, of(0)},
		{"second", "<i8", []int{n}, of(1)},
		{"preferences", "<f4", []int{n}, a.each(false, func(p *numbersTo, of *pairOf) error { return p.float32(of.prob) })},
		{"comparison", "<i8", []int{n}, a.each(false, rowOf)},
	}
	return a.b.file("adapters/imitation.npz", func(w io.Writer) error { return writeNPZ(w, list) })
}

func rowOf(p *numbersTo, of *pairOf) error { return p.int64(int64(of.row)) }

// ipl writes the steps of both segments of every comparison.
func (a *arrays) ipl(ctx context.Context) error {
	c, width := a.b.meta.Counts, a.b.shape
	part := func(side int, of func(s *idrl.Steps) [][]float32) func(*numbersTo) error {
		return func(p *numbersTo) error {
			return a.moving(ctx, c.Length, func(_ int, r *record.Labelled) error {
				clip := &r.Clips[side]
				s, err := a.steps(ctx, clip.Raw)
				if err != nil {
					return err
				}
				for _, row := range of(&s)[clip.Start : clip.Start+clip.Steps] {
					if err := p.float32(row...); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	observations := func(s *idrl.Steps) [][]float32 { return s.Obs }
	actions := func(s *idrl.Steps) [][]float32 { return s.Actions }
	list := []array{
		{"obs_1", "<f4", []int{c.Usable, c.Length, width.obs}, part(0, observations)},
		{"obs_2", "<f4", []int{c.Usable, c.Length, width.obs}, part(1, observations)},
		{"action_1", "<f4", []int{c.Usable, c.Length, width.actions}, part(0, actions)},
		{"action_2", "<f4", []int{c.Usable, c.Length, width.actions}, part(1, actions)},
		{"label", "<f4", []int{c.Usable}, a.each(true, func(p *numbersTo, of *pairOf) error { return p.float32(1 - of.prob) })},
		{"comparison", "<i8", []int{c.Usable}, a.each(true, rowOf)},
	}
	return a.b.file("adapters/ipl.npz", func(w io.Writer) error { return writeNPZ(w, list) })
}

// uniRLHF writes all steps once, and where the segments of each comparison begin among them.
func (a *arrays) uniRLHF(ctx context.Context) error {
	c, width := a.b.meta.Counts, &a.b.shape
	episodes := func(write func(p *numbersTo, s *idrl.Steps) error) func(*numbersTo) error {
		return func(p *numbersTo) error {
			return a.b.from.Episodes(ctx, a.b.part, func(name idrl.StepsID, content []byte) error {
				s, err := steps.Decode(name, content)
				if err != nil {
					return err
				}
				return write(p, &s)
			})
		}
	}
	rows := func(p *numbersTo, list [][]float32) error {
		for _, row := range list {
			if err := p.float32(row...); err != nil {
				return err
			}
		}
		return nil
	}
	ends := func(kind idrl.StepKind) func(*numbersTo) error {
		return episodes(func(p *numbersTo, s *idrl.Steps) error {
			for i := range s.Len() {
				if err := p.bool(i == s.Len()-1 && s.End == kind); err != nil {
					return err
				}
			}
			return nil
		})
	}
	begin := func(side int) func(*numbersTo) error {
		return a.each(true, func(p *numbersTo, of *pairOf) error { return p.int64(int64(a.begins[of.places[side]])) })
	}
	list := []array{
		{"observations", "<f4", []int{width.steps, width.obs}, episodes(func(p *numbersTo, s *idrl.Steps) error { return rows(p, s.Obs[:s.Len()]) })},
		{"actions", "<f4", []int{width.steps, width.actions}, episodes(func(p *numbersTo, s *idrl.Steps) error { return rows(p, s.Actions) })},
		{"terminals", "|b1", []int{width.steps}, ends(idrl.Terminated)},
		{"timeouts", "|b1", []int{width.steps}, ends(idrl.Truncated)},
		{"indices_1", "<i8", []int{c.Usable}, begin(0)},
		{"indices_2", "<i8", []int{c.Usable}, begin(1)},
		{"human_label", "<i8", []int{c.Usable}, a.each(true, func(p *numbersTo, of *pairOf) error {
			switch of.prob {
			case 1:
				return p.int64(0)
			case 0:
				return p.int64(1)
			}
			return p.int64(-1)
		})},
		{"comparison", "<i8", []int{c.Usable}, a.each(true, rowOf)},
	}
	for i := range list {
		if err := a.b.file("adapters/uni_rlhf/"+list[i].name+".npy", list[i].write); err != nil {
			return err
		}
	}
	return nil
}
