package video

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A Table says when the pictures of an MP4 file are shown. It comes from the file's own table of samples (ISO/IEC
// 14496-12, 8.6), without decoding or reading the pictures.
type Table struct {
	Frames int
	Codec  string // of H.264 as media types name it: "avc1.64001E"; of others the code of four letters

	scale int64   // units per second
	times []int64 // when frames are shown, increasing, in units
}

// Limits of tables.
const (
	maxMoov   = 256 << 20 // bytes
	maxFrames = 8 << 20
)

var (
	errNoTable = errors.New("it is no MP4 file with a table of its pictures")
	errTable   = errors.New("its table of pictures is damaged")
)

// ReadTable reads the table of the first video of an MP4 file of so many bytes.
func ReadTable(r io.ReaderAt, size int64) (*Table, error) {
	moov, err := findMoov(r, size)
	if err != nil {
		return nil, err
	}
	movie := boxes(moov)
	var scale int64 = 1
	if h := movie.first("mvhd"); len(h) >= 24 {
		if scale = int64(be32(h, 12)); h[0] == 1 {
			scale = int64(be32(h, 20))
		}
	}
	for _, b := range movie {
		if b.kind != "trak" {
			continue
		}
		trak := boxes(b.body)
		mdia := boxes(trak.first("mdia"))
		if h := mdia.first("hdlr"); len(h) < 12 || string(h[8:12]) != "vide" {
			continue
		}
		return readTrack(trak, mdia, scale)
	}
	return nil, errNoTable
}

func readTrack(trak, mdia boxList, movieScale int64) (*Table, error) {
	t := &Table{}
	switch h := mdia.first("mdhd"); {
	case len(h) >= 24 && h[0] == 0:
		t.scale = int64(be32(h, 12))
	case len(h) >= 36 && h[0] == 1:
		t.scale = int64(be32(h, 20))
	}
	stbl := boxes(boxes(mdia.first("minf")).first("stbl"))
	if t.scale == 0 || stbl == nil {
		return nil, errTable
	}
	var err error
	if t.times, err = shown(stbl.first("stts"), stbl.first("ctts")); err != nil {
		return nil, err
	}
	if t.times, err = t.edited(boxes(trak.first("edts")).first("elst"), movieScale); err != nil {
		return nil, err
	}
	if t.Frames = len(t.times); t.Frames == 0 {
		return nil, errNoTable
	}
	t.Codec = codec(stbl.first("stsd"))
	return t, nil
}

// shown returns the times at which samples are shown, in order: those of decoding, plus an offset for each.
func shown(stts, ctts []byte) ([]int64, error) {
	var times []int64
	now := int64(0)
	err := runs(stts, func(delta int64) {
		times = append(times, now)
		now += delta
	})
	if err != nil || ctts == nil {
		return times, err
	}
	i := 0
	err = runs(ctts, func(offset int64) {
		if i < len(times) {
			times[i] += int64(int32(offset)) //nolint:gosec // signed in version 1, and small in version 0
		}
		i++
	})
	if err == nil && i != len(times) {
		err = errTable
	}
	slices.Sort(times)
	return times, err
}

// runs calls each for every sample of a table of runs: how many samples, and a number of each.
func runs(b []byte, each func(int64)) error {
	if len(b) < 8 || len(b) < 8+8*int(be32(b, 4)) {
		return errTable
	}
	n := 0
	for i := range int(be32(b, 4)) {
		count := int(be32(b, 8+8*i))
		if n += count; count < 0 || n > maxFrames {
			return fmt.Errorf("it has more than %d pictures", maxFrames)
		}
		for range count {
			each(int64(be32(b, 12+8*i)))
		}
	}
	return nil
}

// edited leaves out the frames that an edit list leaves out.
func (t *Table) edited(elst []byte, movieScale int64) ([]int64, error) {
	if elst == nil {
		return t.times, nil
	}
	wide := 4
	if len(elst) < 8 {
		return nil, errTable
	}
	if elst[0] == 1 {
		wide = 8
	}
	n, row := int(be32(elst, 4)), 2*wide+4
	if n < 0 || len(elst) < 8+n*row {
		return nil, errTable
	}
	used := false
	out := t.times
	for i := range n {
		e := elst[8+i*row:]
		long, from := int64(be32(e, 0)), int64(int32(be32(e, 4))) //nolint:gosec // signed
		if wide == 8 {
			long, from = int64(binary.BigEndian.Uint64(e)), int64(binary.BigEndian.Uint64(e[8:])) //nolint:gosec // signed
		}
		if from < 0 { // a pause before the first picture
			continue
		}
		if used {
			return nil, errors.New("it has several edits: write it anew with ffmpeg -i FILE -c copy")
		}
		used = true
		end := int64(math.MaxInt64)
		if long > 0 && movieScale > 0 {
			end = from + int64(math.Ceil(float64(long)/float64(movieScale)*float64(t.scale)))
		}
		out = slices.DeleteFunc(slices.Clone(t.times), func(x int64) bool { return x < from || x >= end })
	}
	return out, nil
}

// Constant returns an error unless frame k is shown within a quarter of a frame of k/fps seconds after the first, so
// that each can be found by its time.
func (t *Table) Constant(fps float64) error {
	for k, x := range t.times {
		at := float64(x-t.times[0]) / float64(t.scale)
		if math.Abs(at*fps-float64(k)) >= 0.25 {
			return fmt.Errorf("its frame rate varies: picture %d is shown %.4f s after the first, and at %g pictures a second that would be %.4f s", k, at, fps, float64(k)/fps)
		}
	}
	return nil
}

// codec returns what the description of samples says of their codec.
func codec(stsd []byte) string {
	entries := boxes(tail(stsd, 8))
	if len(entries) == 0 {
		return ""
	}
	e := entries[0]
	if c := boxes(tail(e.body, 78)).first("avcC"); e.kind == "avc1" && len(c) >= 4 {
		return fmt.Sprintf("avc1.%02X%02X%02X", c[1], c[2], c[3])
	}
	return e.kind
}

// A box is a part of an MP4 file.
type box struct {
	kind string
	body []byte
}

type boxList []box

// boxes returns the boxes in b, up to the first that is damaged.
func boxes(b []byte) (out boxList) {
	for len(b) >= 8 {
		n, head := uint64(be32(b, 0)), uint64(8)
		if n == 1 && len(b) >= 16 {
			n, head = binary.BigEndian.Uint64(b[8:]), 16
		}
		if n < head || n > uint64(len(b)) {
			return out
		}
		out = append(out, box{string(b[4:8]), b[head:n]})
		b = b[n:]
	}
	return out
}

// first returns the content of the first box of a kind, nil if there is none.
func (l boxList) first(kind string) []byte {
	for _, b := range l {
		if b.kind == kind {
			return b.body
		}
	}
	return nil
}

// findMoov returns the content of the box moov of a file.
func findMoov(r io.ReaderAt, size int64) ([]byte, error) {
	for at, n := int64(0), 0; at+8 <= size; n++ {
		var head [16]byte
		if k, err := r.ReadAt(head[:], at); k < 8 {
			return nil, err
		}
		long, begin := int64(be32(head[:], 0)), int64(8)
		switch long {
		case 0:
			long = size - at
		case 1:
			long, begin = int64(binary.BigEndian.Uint64(head[8:])), 16 //nolint:gosec // checked below
		}
		if long < begin || long > size-at || n > 10000 {
			return nil, fmt.Errorf("it is no MP4 file, or is cut off: a part of it should end at byte %d of %d", at+long, size)
		}
		if string(head[4:8]) == "moov" {
			if long > maxMoov {
				return nil, errTable
			}
			b := make([]byte, long-begin)
			_, err := io.ReadFull(io.NewSectionReader(r, at+begin, long-begin), b)
			return b, err
		}
		at += long
	}
	return nil, errNoTable
}

func be32(b []byte, at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }

// tail returns b from an index on, nil if it is shorter.
func tail(b []byte, from int) []byte {
	if len(b) < from {
		return nil
	}
	return b[from:]
}
