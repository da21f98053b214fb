package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"tiebreak/internal/idrl"
)

// The queries of a generation are stored as
//
//	version byte
//	uvarint number of clips, then each id as string
//	uvarint number of queries, then each as
//	    tag byte: 1 comparison, 2 rating, 3 other
//	    1: uvarint place of clip a, uvarint place of clip b
//	    2: uvarint place of the clip
//	    3: id and kind as string; uvarint number of clips and their places;
//	       uvarint n and n float64, which earlier versions wrote
//
// where a string is a uvarint length and its bytes. Nearly every query is what
// idrl.NewComparison or idrl.NewRating makes of its clips, so that its id
// needs no room: 2,000 queries take about 5 KB.
const (
	queriesVersion = 1

	tagComparison = 1
	tagRating     = 2
	tagOther      = 3
)

// encodeQueries encodes the names of clips and the queries about them. It
// returns an error of kind Invalid if a query shows another clip.
func encodeQueries(clips map[idrl.ClipID]idrl.Clip, queries []idrl.Query) ([]byte, error) {
	ids := make([]idrl.ClipID, 0, len(clips))
	for id := range clips {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	place := make(map[idrl.ClipID]uint64, len(ids))
	b := binary.AppendUvarint([]byte{queriesVersion}, uint64(len(ids)))
	for i, id := range ids {
		place[id] = uint64(i)
		b = appendString(b, string(id))
	}
	b = binary.AppendUvarint(b, uint64(len(queries)))
	for _, q := range queries {
		for _, id := range q.Clips {
			if _, ok := place[id]; !ok {
				return nil, idrl.Errorf(idrl.Invalid, "query %s shows clip %s, which is not in its generation", q.ID, id)
			}
		}
		b = appendQuery(b, place, clips, q)
	}
	return b, nil
}

func appendQuery(b []byte, place map[idrl.ClipID]uint64, clips map[idrl.ClipID]idrl.Clip, q idrl.Query) []byte {
	tag := byte(tagOther)
	if made, t, ok := remake(clips, q.Clips); ok && same(made, q) {
		tag = t
	}
	b = append(b, tag)
	if tag == tagOther {
		b = appendString(appendString(b, string(q.ID)), string(q.Kind))
		b = binary.AppendUvarint(b, uint64(len(q.Clips)))
	}
	for _, id := range q.Clips {
		b = binary.AppendUvarint(b, place[id])
	}
	if tag == tagOther {
		b = binary.AppendUvarint(b, 0)
	}
	return b
}

// remake returns the query that idrl makes from one or two clips. ok is false if it makes none.
func remake(clips map[idrl.ClipID]idrl.Clip, ids []idrl.ClipID) (q idrl.Query, tag byte, ok bool) {
	switch len(ids) {
	case 1:
		return idrl.NewRating(clips[ids[0]]), tagRating, true
	case 2:
		a, b := clips[ids[0]], clips[ids[1]]
		if (a.Steps == 0) != (b.Steps == 0) || len(a.Phi) != len(b.Phi) {
			return q, 0, false
		}
		return idrl.NewComparison(a, b), tagComparison, true
	}
	return q, 0, false
}

// same reports whether two queries are equal.
func same(p, q idrl.Query) bool {
	return p.ID == q.ID && p.Kind == q.Kind && slices.Equal(p.Clips, q.Clips)
}

// clipNames returns the names of clips that encodeQueries put before the
// queries.
func clipNames(b []byte) ([]idrl.ClipID, error) {
	ids := (&reader{b: b}).clipNames()
	if ids == nil {
		return nil, errDamaged
	}
	return ids, nil
}

// decodeQueries is the inverse of encodeQueries. It returns an error, and
// never panics, if b is damaged or names a clip that clips lacks.
func decodeQueries(b []byte, clips map[idrl.ClipID]idrl.Clip) ([]idrl.Query, error) {
	r := &reader{b: b}
	ids := r.clipNames()
	for _, id := range ids {
		if _, ok := clips[id]; !ok {
			return nil, fmt.Errorf("clip %s of a generation is missing", id)
		}
	}
	n := r.count(2) // the least that a query takes
	var qs []idrl.Query
	if n > 0 {
		qs = make([]idrl.Query, 0, n)
	}
	for range n {
		qs = append(qs, r.query(ids, clips))
	}
	if r.bad || len(r.b) > 0 {
		return nil, errDamaged
	}
	return qs, nil
}

var errDamaged = errors.New("the queries of a generation are damaged")

// A reader takes values from b. After an error bad is set and all results are empty.
type reader struct {
	b   []byte
	bad bool
}

// clipNames returns nil on failure, and only then.
func (r *reader) clipNames() []idrl.ClipID {
	if v := r.bytes(1); len(v) != 1 || v[0] != queriesVersion {
		r.bad = true
		return nil
	}
	ids := make([]idrl.ClipID, r.count(1))
	for i := range ids {
		ids[i] = idrl.ClipID(r.string())
	}
	if r.bad {
		return nil
	}
	return ids
}

func (r *reader) query(ids []idrl.ClipID, clips map[idrl.ClipID]idrl.Clip) (q idrl.Query) {
	tag := r.bytes(1)
	if r.bad {
		return q
	}
	n := 0
	switch tag[0] {
	case tagComparison:
		n = 2
	case tagRating:
		n = 1
	case tagOther:
		q.ID, q.Kind = idrl.QueryID(r.string()), idrl.QueryKind(r.string())
		n = r.count(1)
	default:
		r.bad = true
	}
	for range n {
		q.Clips = append(q.Clips, r.clip(ids))
	}
	if r.bad {
		return q
	}
	if tag[0] == tagOther {
		r.bytes(8 * r.count(8))
		return q
	}
	made, _, ok := remake(clips, q.Clips)
	r.bad = !ok
	return made
}

func (r *reader) clip(ids []idrl.ClipID) idrl.ClipID {
	k := r.uvarint()
	if r.bad || k >= uint64(len(ids)) {
		r.bad = true
		return ""
	}
	return ids[k]
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
	}
	if r.bad {
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads a number of things of at least size bytes each. A number beyond the remaining bytes
// is damage, so that damaged bytes cannot allocate memory.
func (r *reader) count(size int) int {
	n := r.uvarint()
	if n > uint64(len(r.b)/size) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) bytes(n int) []byte {
	if r.bad || n > len(r.b) {
		r.bad = true
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) string() string { return string(r.bytes(r.count(1))) }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
