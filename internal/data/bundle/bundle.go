package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/base/steps"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
)

// Format is the name of the export that this package writes.
const Format = "bundle"

// SchemaVersion is that of the bundles which this package writes. It grows when a reader of
// the one before would misread them.
const SchemaVersion = 2

// Config says what a bundle is made of.
type Config struct {
	// Read calls its argument with the session as it is at one moment. Required.
	Read func(context.Context, func(Source) error) error

	Program string // its name and version; required
	Options

	// Complete returns spec with the names of its features and what else session show adds.
	// Nil leaves it as it is.
	Complete func(idrl.SessionSpec) (idrl.SessionSpec, error)

	// Beliefs returns what decodes the beliefs of the session. Nil leaves the columns of means and
	// covariances empty.
	Beliefs func(idrl.SessionSpec, []record.LearntFit) (func(record.Snapshot) (idrl.Posterior, error), error)

	// Learnt returns the learnt reward and the policies as files (docs/datasets.md). Nil, or an
	// error of kind NotFound, leaves them out.
	Learnt func(context.Context, Source) ([]export.File, error)

	// Uncut reports whether the session is an arena whose clips are still being cut. Required.
	Uncut func(context.Context) (bool, error)

	// Clip writes a clip as a file of that format. Required if there are to be Clips.
	Clip func(ctx context.Context, w io.Writer, id idrl.ClipID, format string) error
}

// Options say what a bundle holds.
type Options struct {
	After    string // seq or id of an answer: only what came later; empty for all
	Counting bool   // leave out what was undone, and the answers of people who are left out
	Clips    string // format of the clips, "gif" or "mp4"; empty for no such files
}

// WriteZip writes the bundle of a session to w as a zip archive, in a folder of that name.
func WriteZip(ctx context.Context, w io.Writer, folder string, cfg Config) error {
	z := NewZip(w, folder)
	if err := Write(ctx, z, cfg); err != nil {
		return err
	}
	return z.Close()
}

// Write writes the bundle of a session to sink. It reads one moment, a row at a time; the
// result is a function of that moment and of cfg, to the byte. It returns an error of kind
// Invalid or NotFound if there is nothing after cfg.After.
func Write(ctx context.Context, sink Sink, cfg Config) error {
	b := &builder{cfg: cfg, sink: sink}
	b.meta.Rows = map[string]int{}
	if err := cfg.Read(ctx, func(from Source) error { return b.read(ctx, from) }); err != nil {
		return err
	}
	if err := b.clips(ctx); err != nil { // clips do not change, and may take long
		return err
	}
	return b.finish()
}

// A builder writes one bundle.
type builder struct {
	cfg  Config
	sink Sink
	from Source
	spec idrl.SessionSpec
	part record.Part
	meta meta

	splits splits
	shape  shape       // of the comparisons, for the adapters
	known  policyNames // of the session
	drawn  []idrl.ClipID
	told   []idrl.Instructions
}

// read writes all that the database has to be read for.
func (b *builder) read(ctx context.Context, from Source) (err error) {
	b.from, b.spec = from, from.Spec()
	if b.cfg.Complete != nil {
		if b.spec, err = b.cfg.Complete(b.spec); err != nil {
			return err
		}
	}
	if b.part, err = b.partOf(ctx); err != nil {
		return err
	}
	if err := b.describe(ctx); err != nil {
		return err
	}
	for _, write := range []func(context.Context) error{
		b.labels, b.queries, b.comparisons, b.policies, b.segments, b.trajectories, b.posteriors, b.trainings, b.events,
		b.texts, b.people, b.learnt, b.adapters, b.scripts, b.records,
	} {
		if err := write(ctx); err != nil {
			return err
		}
	}
	return nil
}

// partOf returns which answers the bundle holds.
func (b *builder) partOf(ctx context.Context) (p record.Part, err error) {
	p.Counting = b.cfg.Counting
	if b.cfg.After == "" {
		return p, nil
	}
	if _, err := fmt.Sscanf(b.cfg.After+"!", "%d!", &p.After); err == nil && p.After >= 0 {
		return p, nil
	}
	p.After, err = b.from.SeqOf(ctx, idrl.AnswerID(b.cfg.After))
	if idrl.KindOf(err) == idrl.NotFound {
		err = idrl.Errorf(idrl.NotFound, "%q is neither the number nor the id of an answer of this session: use cursor.seq of the meta.json of an earlier bundle", b.cfg.After)
	}
	return p, err
}

// rows returns the answers of the bundle.
func (b *builder) rows(ctx context.Context) export.Rows {
	return func(yield func(record.Labelled) error) error { return b.from.Rows(ctx, b.part, yield) }
}

// pairs calls yield with the comparisons that count, each until the next one and with its answer as it counts: of the
// answers to groups those that they imply.
func (b *builder) pairs(ctx context.Context, yield func(*record.Labelled) error) error {
	return counting(ctx, b.from, b.part, func(r *record.Labelled) error {
		if !stated(r) {
			return nil
		}
		return yield(r)
	})
}

// labels writes the answers and, from the same pass, the people who gave them.
func (b *builder) labels(ctx context.Context) error {
	of := map[idrl.AnnotatorID]*tally{}
	n, err := writeTable(b, "labels.parquet", nil, func(add func(labelRow) error) error {
		return b.rows(ctx)(func(r record.Labelled) error {
			if of[r.Answer.Annotator] == nil {
				of[r.Answer.Annotator] = &tally{}
			}
			of[r.Answer.Annotator].add(&r)
			return add(newLabelRow(&b.spec, &r))
		})
	})
	if err != nil {
		return err
	}
	b.meta.Counts.Labels = n
	members, withdrawn, err := b.from.Members(ctx)
	if err != nil {
		return err
	}
	b.meta.Counts.Annotators, b.meta.Counts.Withdrawn = len(members), withdrawn
	_, err = writeTable(b, "annotators.parquet", nil, func(add func(annotatorRow) error) error {
		for i := range members {
			t := of[members[i].ID]
			if t == nil {
				t = &tally{}
			}
			if err := add(t.finish(&members[i])); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (b *builder) queries(ctx context.Context) error {
	known, err := b.from.Known(ctx)
	if err != nil {
		return err
	}
	gold := map[idrl.QueryID]record.Known{}
	for _, k := range known {
		if k.Use == record.AsGold {
			gold[k.Query.ID] = k
		}
	}
	_, err = writeTable(b, "queries.parquet", nil, func(add func(queryRow) error) error {
		return b.from.Questions(ctx, b.part, func(a record.Assignment, again bool) error {
			return add(newQueryRow(&b.spec, &a, again, gold))
		})
	})
	return err
}

func (b *builder) comparisons(ctx context.Context) error {
	err := b.pairs(ctx, func(r *record.Labelled) error {
		b.splits.add(r)
		b.shape.add(r)
		return nil
	})
	if err != nil {
		return err
	}
	c := &b.meta.Counts
	c.Comparisons, err = writeTable(b, "comparisons.parquet", func(r *comparisonRow) int { return 2 * len(r.FeaturesA) }, func(add func(comparisonRow) error) error {
		return b.pairs(ctx, func(r *record.Labelled) error {
			split := b.splits.of(r)
			switch split {
			case train:
				c.Train++
			case test:
				c.Test++
			default:
				c.Across++
			}
			pair := b.splits.pairOf(r, b.spec.Seed)
			c.addPair(pair)
			if r.Answer.Choice == idrl.Equal {
				c.Ties++
			}
			return add(newComparisonRow(r, split, pair))
		})
	})
	b.splits = splits{} // its memory is needed for other things
	return err
}

func (b *builder) segments(ctx context.Context) (err error) {
	b.meta.Counts.Segments, err = writeTable(b, "segments.parquet", func(r *segmentRow) int { return len(r.Features) }, func(add func(segmentRow) error) error {
		return b.from.Clips(ctx, b.part, func(c idrl.Clip, drawn bool) error {
			if drawn && b.cfg.Clips != "" {
				b.drawn = append(b.drawn, c.ID)
			}
			return add(segmentRow{
				Segment: string(c.ID), Episode: given(c.Raw), Env: b.spec.Env, Trajectory: string(c.From), Policy: b.policyOf(c.From),
				Start: int64(c.Start), End: int64(c.Start + c.Steps), Steps: int64(c.Steps), Features: c.Phi, Drawn: drawn,
			})
		})
	})
	return err
}

// policyOf returns the policy whose trajectory has that name, where a number that follows is that of an
// episode; nil if it is of none of the session, as a rollout that labels were imported for may be.
func (b *builder) policyOf(id idrl.TrajectoryID) *string {
	name := string(id)
	if i := strings.LastIndexByte(name, '.'); i >= 0 && strings.Trim(name[i+1:], "0123456789") == "" && name[i+1:] != "" {
		name = name[:i]
	}
	return unless(!b.known.have(name), name)
}

func (b *builder) trajectories(ctx context.Context) (err error) {
	numbers := func(r *trajectoryRow) int {
		return len(r.Actions) * (len(r.Observations[0]) + len(r.Actions[0]) + len(r.Features[0]))
	}
	b.meta.Counts.Trajectories, err = writeTable(b, "trajectories.parquet", numbers, func(add func(trajectoryRow) error) error {
		return b.from.Episodes(ctx, b.part, func(name idrl.StepsID, content []byte) error {
			s, err := steps.Decode(name, content)
			if err != nil {
				return err
			}
			b.shape.episode(name, &s)
			return add(trajectoryRow{
				Episode: string(name), Env: s.Env, Version: int64(s.Version), Seed: s.Seed, Number: s.Episode, Steps: int64(s.Len()),
				Terminated: s.End == idrl.Terminated, Observations: s.Obs, Actions: s.Actions, Features: s.Phi,
			})
		})
	})
	return err
}

func (b *builder) events(ctx context.Context) error {
	if b.part.Counting { // they would name what is left out
		return nil
	}
	_, err := writeTable(b, "events.parquet", nil, func(add func(eventRow) error) error {
		return b.from.Log(ctx, b.part, func(a idrl.Answer) error {
			if row, ok := newEventRow(&a); ok {
				return add(row)
			}
			return nil
		})
	})
	return err
}

// records writes what the session can be made from again: every table of the store that
// holds something of it, without the names of people.
func (b *builder) records(ctx context.Context) error {
	if b.meta.Complete = b.part.Whole(); !b.meta.Complete {
		return nil
	}
	var err error
	if b.meta.Records, err = b.from.Schema(ctx); err != nil {
		return err
	}
	tables, err := b.from.RecordTables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		name := recordFile(t.Name)
		if err := b.file(name, func(w io.Writer) (err error) {
			b.meta.Rows[name], err = writeRecords(w, t, func(yield func([]any) error) error { return b.from.Records(ctx, t, yield) })
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// clips writes the files of the clips.
func (b *builder) clips(ctx context.Context) error {
	if b.cfg.Clips == "" {
		return nil
	}
	var list bytes.Buffer
	for _, id := range b.drawn {
		name := string(id) + "." + b.cfg.Clips
		if err := b.file("clips/"+name, func(w io.Writer) error { return b.cfg.Clip(ctx, w, id, b.cfg.Clips) }); err != nil {
			return err
		}
		line, err := json.Marshal(struct {
			File    string      `json:"file_name"`
			Segment idrl.ClipID `json:"segment_id"`
		}{name, id})
		if err != nil {
			return err
		}
		list.Write(append(line, '\n'))
	}
	b.meta.Counts.Clips = len(b.drawn)
	return b.content("clips/metadata.jsonl", list.Bytes())
}
