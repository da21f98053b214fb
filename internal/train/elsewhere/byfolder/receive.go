package byfolder

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"tiebreak/internal/train/elsewhere"
)

// A reader looks for files of a pattern. One goroutine has it.
type reader struct {
	c       *Carrier
	kind    string
	pattern string
	others  map[string]bool    // hashes of subjects that are not of the pattern
	heard   map[string]entry   // what was told last, by hash; of Watch
	streams map[string]*stream // by hash and stream; of Receive
	out     chan elsewhere.Message
}

// A stream is the state of a sender of a subject.
type stream struct {
	last uint64    // number of the last file that was handed over or is left out
	seen time.Time // when a file of it was last there
}

// Watch hands over what was told last under the subjects of a pattern, and then what is told.
func (c *Carrier) Watch(ctx context.Context, pattern string) (<-chan elsewhere.Message, error) {
	r := c.reader(told, pattern)
	return r.out, c.start(func() { r.run(ctx, r.watch) })
}

// Receive hands over what is sent, and deletes what was sent before.
func (c *Carrier) Receive(ctx context.Context, pattern string) (<-chan elsewhere.Message, error) {
	r := c.reader(sent, pattern)
	if err := r.discard(); err != nil {
		return nil, err
	}
	return r.out, c.start(func() { r.run(ctx, r.receive) })
}

func (c *Carrier) reader(kind, pattern string) *reader {
	return &reader{
		c: c, kind: kind, pattern: pattern, others: map[string]bool{}, heard: map[string]entry{},
		streams: map[string]*stream{}, out: make(chan elsewhere.Message),
	}
}

// run looks again and again, at longer intervals while nothing comes.
func (r *reader) run(ctx context.Context, look func(context.Context) (came bool, err error)) {
	defer close(r.out)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.c.ctx, cancel)()
	wait := r.c.poll
	for ctx.Err() == nil {
		r.c.mu.Lock()
		poked := r.c.poked
		r.c.mu.Unlock()
		came, err := look(ctx)
		if ctx.Err() == nil {
			r.c.trouble(err)
		}
		wait = min(wait*5/4, max(slowest, r.c.poll))
		if came {
			wait = r.c.poll
		}
		timer := time.NewTimer(wait)
		select {
		case <-poked:
			wait = r.c.poll
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
			}
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// boxes returns the folders that can have files of the pattern.
func (r *reader) boxes() ([]string, error) {
	words := strings.Split(r.pattern, ".")
	wild := func(w string) bool { return w == "*" || w == ">" }
	switch {
	case !wild(words[0]) && words[0] != "to":
		return words[:1], nil
	case words[0] == "to" && len(words) > 1 && !wild(words[1]):
		return []string{boxOf(r.pattern)}, nil
	}
	root, err := r.c.folder.get()
	if err != nil {
		return nil, err
	}
	all, err := names(root, r.kind)
	if err != nil {
		if replaced(err) {
			r.c.folder.broken()
		}
		return nil, err
	}
	return slices.DeleteFunc(all, func(box string) bool {
		first, second, two := strings.Cut(box, ".")
		return !elsewhere.Valid(first) || two && !elsewhere.Valid(second) || words[0] == "to" && first != "to"
	}), nil
}

// mine returns the entries of a box that can be of the pattern.
func (r *reader) mine(box string) ([]entry, error) {
	all, err := r.c.entries(r.kind, box)
	return slices.DeleteFunc(all, func(e entry) bool { return r.others[e.hash] }), err
}

// load returns a file; ok is false if it is not of the pattern or is left out.
func (r *reader) load(root *os.Root, dir string, e entry) (subject string, messages [][]byte, ok bool) {
	subject, messages, err := r.c.load(root, dir, e)
	switch {
	case err != nil:
		r.c.leaveOut(dir+"/"+e.String(), err)
		return "", nil, false
	case !elsewhere.Match(r.pattern, subject):
		if len(r.others) >= 10000 {
			clear(r.others)
		}
		r.others[e.hash] = true
		return "", nil, false
	}
	return subject, messages, true
}

func (r *reader) hand(ctx context.Context, subject string, data []byte) bool {
	select {
	case r.out <- elsewhere.Message{Subject: subject, Data: data}:
		return true
	case <-ctx.Done():
		return false
	}
}

// watch hands over the newest file of each subject if it was not handed over.
func (r *reader) watch(ctx context.Context) (came bool, err error) {
	boxes, err := r.boxes()
	if err != nil {
		return false, err
	}
	newest := map[string]entry{}
	for _, box := range boxes {
		all, err := r.mine(box)
		if err != nil {
			return came, err
		}
		for _, e := range all {
			if e.number >= newest[e.hash].number {
				newest[e.hash] = e
			}
		}
		for hash, e := range newest {
			if r.heard[hash] == e {
				continue
			}
			root, err := r.c.folder.get()
			if err != nil {
				return came, err
			}
			subject, messages, ok := r.load(root, r.kind+"/"+box, e)
			if !ok || len(messages) == 0 {
				delete(newest, hash)
				continue
			}
			if came = true; !r.hand(ctx, subject, messages[len(messages)-1]) {
				return came, nil
			}
			r.heard[hash] = e
		}
	}
	for hash := range r.heard {
		if _, there := newest[hash]; !there {
			delete(r.heard, hash)
		}
	}
	return came, nil
}

// discard deletes what is there. It is not handed over either if it cannot be deleted.
func (r *reader) discard() error {
	boxes, err := r.boxes()
	if err != nil {
		return err
	}
	for _, box := range boxes {
		all, err := r.mine(box)
		if err != nil {
			return r.c.folder.unusable(err)
		}
		root, err := r.c.folder.get()
		if err != nil {
			return err
		}
		dir := r.kind + "/" + box
		for _, e := range all {
			if _, _, ok := r.load(root, dir, e); ok {
				r.stream(e).last = max(r.stream(e).last, e.number)
				_ = root.Remove(dir + "/" + e.String())
			}
		}
	}
	return nil
}

func (r *reader) stream(e entry) *stream {
	s := r.streams[e.hash+e.stream]
	if s == nil {
		s = &stream{}
		r.streams[e.hash+e.stream] = s
	}
	s.seen = time.Now()
	return s
}

// receive hands over the files of all boxes.
func (r *reader) receive(ctx context.Context) (came bool, err error) {
	boxes, err := r.boxes()
	if err != nil {
		return false, err
	}
	for _, box := range boxes {
		all, err := r.inOrder(box)
		if err != nil {
			return came, err
		}
		for _, e := range all {
			ok, err := r.handFile(ctx, r.kind+"/"+box, e)
			if came = came || ok; err != nil {
				return came, err
			}
		}
	}
	for key, s := range r.streams {
		if time.Since(s.seen) > messageAge {
			delete(r.streams, key)
		}
	}
	return came, nil
}

// inOrder returns the files of a box in the order of their numbers, and leaves none out that was there before another
// of its subject. A list that is made while files are made can have a later and not an earlier one. A second list has
// the earlier one.
func (r *reader) inOrder(box string) ([]entry, error) {
	first, err := r.mine(box)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	slices.SortFunc(first, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
	upTo, gap, lasts := map[string]uint64{}, false, map[string]uint64{}
	for _, e := range first {
		key := e.hash + e.stream
		if s := r.streams[key]; s != nil && lasts[key] == 0 {
			lasts[key] = s.last
		}
		gap = gap || e.number > lasts[key] && e.number != lasts[key]+1
		lasts[key] = max(lasts[key], e.number)
		upTo[e.hash] = e.number
	}
	if !gap {
		return first, nil
	}
	second, err := r.mine(box)
	second = slices.DeleteFunc(second, func(e entry) bool { return e.number > upTo[e.hash] })
	slices.SortFunc(second, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
	return second, err
}

// handFile hands over the messages of a file, which it deletes before. If another process has deleted it, they are not
// handed over. If it cannot be deleted, it is known by its number later.
func (r *reader) handFile(ctx context.Context, dir string, e entry) (came bool, err error) {
	root, err := r.c.folder.get()
	if err != nil {
		return false, err
	}
	name := dir + "/" + e.String()
	if s := r.streams[e.hash+e.stream]; s != nil && e.number <= s.last {
		s.seen = time.Now()
		_ = root.Remove(name)
		return false, nil
	}
	subject, messages, ok := r.load(root, dir, e)
	if !ok {
		return false, nil
	}
	r.stream(e).last = e.number
	if err := root.Remove(name); errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	for _, data := range messages {
		if !r.hand(ctx, subject, data) {
			return true, ctx.Err()
		}
	}
	return true, nil
}
