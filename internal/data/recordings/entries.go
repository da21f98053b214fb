package recordings

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
)

// entriesName is the file of the entries of an index while it is made.
const entriesName = ".entries"

// entries are those of an index that is made: they go to a file one by one, so that memory holds none of them but the last. What stands
// before them in the index is known at the end.
type entries struct {
	dir  string
	file *os.File
	to   *bufio.Writer
	last entry

	videos iter.Seq[filmedVideo] // of index.Filmed, which are written one by one, too; nil: there are none
}

// newEntries returns those of an index in a folder.
func newEntries(dir string) (e entries, err error) {
	e.dir = dir
	if e.file, err = os.Create(filepath.Join(dir, entriesName)); err != nil { //nolint:gosec // within the data folder
		return e, err
	}
	e.to = bufio.NewWriter(e.file)
	return e, nil
}

// close removes the file.
func (e *entries) close() error { return errors.Join(e.file.Close(), os.RemoveAll(e.file.Name())) }

// add adds the next one.
func (e *entries) add(x entry) error {
	b, err := json.Marshal(x)
	if err != nil {
		return refused("array", "%v", err)
	}
	if e.last.Name != "" {
		b = append([]byte{','}, b...)
	}
	e.last = x
	_, err = e.to.Write(b)
	return err
}

// index writes the index, which then is durable: x, whose Rollouts are the entries and whose videos are those of e.
func (e *entries) index(x *index) (err error) {
	x.Rollouts = []entry{}
	if e.videos != nil {
		x.Filmed.Videos = []filmedVideo{}
	}
	b, err := json.Marshal(x)
	if err != nil {
		return refused("array", "%v", err)
	}
	before, whole := bytes.CutSuffix(b, []byte("]}"))
	if !whole {
		panic("recordings: the rollouts of an index are not its last field")
	}
	if err := e.to.Flush(); err != nil {
		return err
	}
	if _, err := e.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(e.dir, indexName)) //nolint:gosec // within the data folder
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	to := bufio.NewWriter(f)
	if err := e.writeBefore(to, before); err != nil {
		return err
	}
	_, err = io.Copy(to, io.MultiReader(e.file, bytes.NewReader([]byte("]}"))))
	return errors.Join(err, to.Flush(), f.Sync())
}

// writeBefore writes what stands before the entries in the index, with the videos.
func (e *entries) writeBefore(to *bufio.Writer, before []byte) error {
	if e.videos == nil {
		_, err := to.Write(before)
		return err
	}
	mark := []byte(`"videos":[`) // in no text: quotes are escaped there
	head, rest, found := bytes.Cut(before, mark)
	if !found {
		panic("recordings: an index of filmed rollouts has no videos")
	}
	_, err := to.Write(append(head, mark...))
	between := ""
	for v := range e.videos {
		b, marshalErr := json.Marshal(v)
		_, separated := to.WriteString(between)
		_, written := to.Write(b)
		if err = errors.Join(err, marshalErr, separated, written); err != nil {
			return err
		}
		between = ","
	}
	_, after := to.Write(rest)
	return errors.Join(err, after)
}

// A spread is the mean and the variance of each number of rows (Welford's update).
type spread struct {
	n        float64
	mean, sq []float64 // sq: sum of the squared deviations
}

func (s *spread) add(row []float64) {
	if s.n++; s.mean == nil {
		s.mean, s.sq = make([]float64, len(row)), make([]float64, len(row))
	}
	for j, x := range row {
		d := x - s.mean[j]
		s.mean[j] += d / s.n
		s.sq[j] += d * (x - s.mean[j])
	}
}

// std returns the standard deviation of number j over all rows; NaN without rows.
func (s *spread) std(j int) float64 {
	if s.n == 0 {
		return math.NaN()
	}
	return math.Sqrt(s.sq[j] / s.n)
}
