package lerobot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// A table is a Parquet file.
type table struct {
	name string
	file *os.File
	*parquet.File
}

// openTable opens a Parquet file of at most so many bytes. The caller closes it.
func (d *Dataset) openTable(name string, most int64) (t *table, err error) {
	bytes, err := d.watch(name)
	if err != nil {
		return nil, err
	}
	if bytes > most {
		return nil, refused("limit", "%s has more than %d bytes", name, most)
	}
	f, err := OpenFile(d.root, name)
	if err != nil {
		return nil, err
	}
	if d.reading != nil {
		d.reading(name)
	}
	t = &table{name: name, file: f}
	defer func() {
		if p := recover(); p != nil { // parquet-go panics at some damaged files
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			err = errors.Join(refused("parquet", "%s is no Parquet file, is damaged, or is not finished (dataset.finalize() of LeRobot ends it): %v", name, err), f.Close())
		}
	}()
	t.File, err = parquet.OpenFile(f, bytes, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	return t, err
}

func (t *table) close() error { return t.file.Close() }

// A column is read row by row. It holds one page of the file.
type column struct {
	table *table
	name  string
	least int // definition level of a value that is there
	list  bool

	chunks []parquet.ColumnChunk // those that were not begun
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    []parquet.Value
	ready  []parquet.Value // part of buf
	row    []parquet.Value
	err    error
}

// has reports whether t has a column of that name.
func (t *table) has(name string) bool {
	_, _, ok := t.leaf(name)
	return ok
}

// names returns those of the top-level columns.
func (t *table) names() string {
	var out []string
	for _, path := range t.Schema().Columns() {
		if !slices.Contains(out, path[0]) {
			out = append(out, path[0])
		}
	}
	return strings.Join(out, ", ")
}

// leaf returns the only leaf of a top-level column.
func (t *table) leaf(name string) (leaf parquet.LeafColumn, n int, ok bool) {
	for _, path := range t.Schema().Columns() {
		if path[0] == name {
			leaf, _ = t.Schema().Lookup(path...)
			n++
		}
	}
	return leaf, n, n > 0
}

// column returns one by its name: of single values, or of lists of them.
func (t *table) column(name string) (*column, error) {
	leaf, n, ok := t.leaf(name)
	switch {
	case !ok:
		return nil, refused("column", "%s has no column %.80q", t.name, name)
	case n > 1 || leaf.MaxRepetitionLevel > 1:
		return nil, refused("column", "%s: the column %.80q is not of single values or of lists of them", t.name, name)
	}
	c := &column{table: t, name: name, least: leaf.MaxDefinitionLevel, list: leaf.MaxRepetitionLevel == 1, buf: make([]parquet.Value, 1024)}
	for _, g := range t.RowGroups() {
		c.chunks = append(c.chunks, g.ColumnChunks()[leaf.ColumnIndex])
	}
	return c, nil
}

// columns returns several.
func (t *table) columns(names ...string) (map[string]*column, error) {
	out := map[string]*column{}
	for _, name := range names {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		out[name] = c
	}
	return out, nil
}

// next returns the values of the next row, which are overwritten by the one after. After the last it returns io.EOF.
func (c *column) next() ([]parquet.Value, error) {
	c.row = c.row[:0]
	for {
		if len(c.ready) == 0 {
			if err := c.fill(); err != nil {
				if errors.Is(err, io.EOF) && len(c.row) > 0 {
					return c.row, nil
				}
				return nil, err
			}
		}
		for k, v := range c.ready {
			if v.RepetitionLevel() == 0 && len(c.row) > 0 {
				c.ready = c.ready[k:]
				return c.row, nil
			}
			if v.IsNull() && v.DefinitionLevel() < c.least && !(c.list && v.DefinitionLevel() == c.least-2) {
				return nil, refused("column", "%s: a value of the column %.80q is missing", c.table.name, c.name)
			}
			if len(c.row) >= maxRow {
				return nil, refused("limit", "%s: a row of the column %.80q has more than %d values", c.table.name, c.name, maxRow)
			}
			c.row = append(c.row, v.Clone())
		}
		c.ready = nil
	}
}

// maxRow is how many values a row may have.
const maxRow = 1 << 16

// fill reads values from the present page, or from the next that has any.
func (c *column) fill() (err error) {
	if c.err != nil {
		return c.err
	}
	defer func() {
		if p := recover(); p != nil { // parquet-go panics at some damaged pages
			err = fmt.Errorf("%v", p)
		}
		if c.err = err; err != nil && !errors.Is(err, io.EOF) {
			c.err = refused("parquet", "%s is damaged: column %.80q: %v", c.table.name, c.name, err)
		}
		err = c.err
	}()
	for {
		if c.values != nil {
			n, err := c.values.ReadValues(c.buf)
			if n > 0 {
				c.ready = c.buf[:n]
				return nil
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			c.values = nil
			parquet.Release(c.page)
		}
		if c.pages == nil {
			if len(c.chunks) == 0 {
				return io.EOF
			}
			c.pages, c.chunks = c.chunks[0].Pages(), c.chunks[1:]
		}
		c.page, err = c.pages.ReadPage()
		if errors.Is(err, io.EOF) {
			err = c.pages.Close()
			c.pages = nil
			if err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		c.values = c.page.Values()
	}
}

// one returns the only value of the next row.
func (c *column) one() (v parquet.Value, err error) {
	row, err := c.next()
	if err != nil {
		return v, err
	}
	if len(row) != 1 {
		return v, refused("column", "%s: a row of the column %.80q has %d values instead of one", c.table.name, c.name, len(row))
	}
	return row[0], nil
}

// number returns the only number of the next row.
func (c *column) number() (float64, error) {
	v, err := c.one()
	if err != nil {
		return 0, err
	}
	x, ok := number(v)
	if !ok {
		return 0, refused("column", "%s: the column %.80q is not of numbers", c.table.name, c.name)
	}
	return x, nil
}

// index returns the only whole number of the next row, from 0 on.
func (c *column) index() (int, error) {
	x, err := c.number()
	if err == nil && !(x >= 0 && x <= maxNumber && x == float64(int(x))) {
		err = refused("column", "%s: the column %.80q has the value %v; wanted are whole numbers from 0 on", c.table.name, c.name, x)
	}
	return int(x), err
}

// texts returns the values of the next row as text. An empty list has none.
func (c *column) texts() ([]string, error) {
	row, err := c.next()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, v := range row {
		if !v.IsNull() {
			out = append(out, text(v))
		}
	}
	return out, nil
}

// number returns a value as a number.
func number(v parquet.Value) (float64, bool) {
	switch v.Kind() {
	case parquet.Boolean:
		if v.Boolean() {
			return 1, true
		}
		return 0, true
	case parquet.Int32:
		return float64(v.Int32()), true
	case parquet.Int64:
		return float64(v.Int64()), true
	case parquet.Float:
		return float64(v.Float()), true
	case parquet.Double:
		return v.Double(), true
	default:
		return 0, false
	}
}

// text returns a value as text.
func text(v parquet.Value) string {
	switch v.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return string(v.ByteArray())
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	case parquet.Int32:
		return strconv.Itoa(int(v.Int32()))
	default:
		x, _ := number(v)
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
}
