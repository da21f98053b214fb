package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tiebreak/internal/base/record"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
	"tiebreak/internal/look/film"
	"tiebreak/store"
)

// clipsFlags are the flags of clips.
type clipsFlags struct {
	data, session, format, out, size string
	speed                            float64
	pair                             bool
}

func (f *clipsFlags) declare(fs *flag.FlagSet) {
	dataFlag(fs, &f.data)
	fs.StringVar(&f.session, "session", "", "`id` of the session; without it the sessions are listed")
	fs.StringVar(&f.format, "format", film.Formats()[0], "format: "+strings.Join(film.Formats(), ", ")+"; mp4 and webm need ffmpeg, png shows the end of a clip")
	fs.StringVar(&f.out, "out", "clips", "`folder` for the files")
	fs.StringVar(&f.size, "size", "480x360", "largest width and height of a clip in pixels, as `WxH`")
	fs.Float64Var(&f.speed, "speed", 1, "speed as a `factor`: 1 is the speed of the page, 0.5 half of it")
	fs.BoolVar(&f.pair, "pair", false, "one file per answer, with its clips side by side as they were shown")
}

func clipsCommand() command {
	return shared.With(command{
		Name: "clips", Summary: "write the clips of a session as GIF, MP4, WebM or PNG", Usage: "[ID] [flags]", Unflagged: unflagged,
		About: "Writes each clip of the answered questions as a file named by the clip's id. With --pair it writes one file per\n" +
			"answer, named by the answer's id. Existing files are kept, so the same command continues where it was\n" +
			"stopped. The server may be running. Without an id it lists the sessions.",
		Example: "tiebreak clips ID --data tiebreak-data --format mp4 --out clips",
	}, (*clipsFlags).declare, runClips)
}

func runClips(ctx context.Context, io stdio, f *clipsFlags) error {
	cfg, err := f.config()
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return reading(ctx, f.data, func(db *store.DB) error { return f.write(ctx, io, db, cfg) })
}

// write writes the films of a session.
func (f *clipsFlags) write(ctx context.Context, io stdio, db *store.DB, cfg film.Config) (err error) {
	if f.session == "" {
		return listSessions(ctx, io, db)
	}
	reels, err := reelsOf(ctx, db, idrl.SessionID(f.session), f.pair)
	if idrl.KindOf(err) == idrl.NotFound {
		return fmt.Errorf("%w; 'tiebreak clips --data %s' lists the sessions", err, f.data)
	}
	if err != nil {
		return err
	}
	if len(reels) == 0 {
		fmt.Fprintf(io.Out, "Session %s has no answers yet, so there are no clips to write.\n", f.session)
		return nil
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return idrl.Errorf(idrl.Invalid, "the folder %s cannot be made (%v): choose another with --out", f.out, err)
	}
	w := &filmWriter{flags: f, cfg: cfg, db: db, io: io}
	return w.writeAll(ctx, reels)
}

// config returns the format of the films, without their clips, or an error if a flag is wrong.
func (f *clipsFlags) config() (cfg film.Config, err error) {
	if err := film.CheckFormat(f.format); err != nil {
		return cfg, err
	}
	cfg.Speed = f.speed
	width, height, _ := strings.Cut(f.size, "x")
	if _, err := fmt.Sscanf(width+" "+height+"!", "%d %d!", &cfg.Width, &cfg.Height); err != nil {
		return cfg, idrl.Errorf(idrl.Invalid, "--size %q is not a width and a height; use pixels, such as 480x360", f.size)
	}
	_, err = film.New(cfg)
	return cfg, err
}

// A reel is a file to write.
type reel struct {
	name  string // without extension
	clips []idrl.ClipID
}

// reelsOf returns a reel for each clip of the answered questions, in the order of
// the answers, or one for each answer if in pairs, left clip first.
func reelsOf(ctx context.Context, db *store.DB, id idrl.SessionID, pairs bool) (list []reel, err error) {
	seen := map[idrl.ClipID]bool{}
	err = db.Rows(ctx, id, func(r record.Labelled) error {
		if r.LeftOut {
			return nil
		}
		if pairs {
			shown := slices.Clone(r.Query.Clips)
			if r.Answer.Left == idrl.SideB {
				slices.Reverse(shown)
			}
			list = append(list, reel{string(r.Answer.ID), shown})
			return nil
		}
		for _, c := range r.Query.Clips {
			if !seen[c] {
				seen[c] = true
				list = append(list, reel{string(c), []idrl.ClipID{c}})
			}
		}
		return nil
	})
	return list, err
}

// A filmWriter writes the films of a session.
type filmWriter struct {
	flags *clipsFlags
	cfg   film.Config
	db    *store.DB
	io    stdio

	wrote, kept, missing int
	damaged              []idrl.ClipID
}

// writeAll writes the missing files of reels, and prints the result.
func (w *filmWriter) writeAll(ctx context.Context, reels []reel) error {
	for i, r := range reels {
		file := url.PathEscape(r.name) + "." + w.flags.format // annotators choose the ids of answers, and so these names
		fmt.Fprintf(w.io.Err, "\r%-79s", fmt.Sprintf("%d of %d: %s", i+1, len(reels), file))
		if err := w.write(ctx, filepath.Join(w.flags.out, file), r); err != nil {
			fmt.Fprintf(w.io.Err, "\r%-79s\r", "") // clears the line of progress
			if ctx.Err() != nil {
				fmt.Fprintf(w.io.Err, "Stopped. %d of %d files are in %s; the same command continues from there.\n",
					w.wrote+w.kept, len(reels), w.flags.out)
				return ctx.Err()
			}
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	fmt.Fprintf(w.io.Err, "\r%-79s\r", "")
	fmt.Fprintf(w.io.Out, "%d files in %s: %d written, %d already there.\n", w.wrote+w.kept, w.flags.out, w.wrote, w.kept)
	if w.missing > 0 {
		fmt.Fprintf(w.io.Err, "%d files could not be written: their clips were recorded without a drawing.\n", w.missing)
	}
	if n := len(w.damaged); n > 0 {
		return idrl.Errorf(idrl.Damaged, "files that could not be written because clips are damaged: %d, the first clip is %s; 'tiebreak doctor --data %s' says what to do",
			n, w.damaged[0], w.flags.data)
	}
	return nil
}

// write writes the film of a reel unless the file exists.
func (w *filmWriter) write(ctx context.Context, path string, r reel) error {
	if _, err := os.Stat(path); err == nil {
		w.kept++
		return nil
	}
	cfg := w.cfg
	for _, id := range r.clips {
		media, err := w.db.ClipMedia(ctx, idrl.SessionID(w.flags.session), id)
		if idrl.KindOf(err) == idrl.NotFound {
			w.missing++
			return nil
		}
		if idrl.KindOf(err) == idrl.Damaged {
			w.damaged = append(w.damaged, id)
			return nil
		}
		if err != nil {
			return err
		}
		c, err := clip.Decode(media)
		if err != nil {
			return fmt.Errorf("clip %s: %w", id, err)
		}
		cfg.Clips = append(cfg.Clips, c)
	}
	f, err := film.New(cfg)
	if err != nil {
		return err
	}
	if err := f.Save(ctx, path, w.flags.format); err != nil {
		return err
	}
	w.wrote++
	return nil
}
