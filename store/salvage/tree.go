package salvage

import (
	"encoding/binary"
	"strings"
)

// A Tree is a b-tree: a table, an index, or pages of one that nothing leads to.
type Tree struct {
	Kind, Name string   // by the schema: "table" or "index"; empty if nothing leads to it
	Index      bool     // its pages are those of indexes, and of tables WITHOUT ROWID
	Pages      []uint32 // that can be read
	Broken     int      // pages that lead nowhere; more may be behind them
}

// Trees returns the trees of the schema, then those that nothing leads to. Where the schema is damaged, its rows are looked for
// on all pages.
func (f *File) Trees() []Tree {
	seen := make([]bool, f.pages+1)
	schema := f.walk(1, seen)
	schema.Kind, schema.Name = "table", "sqlite_schema"
	f.skipFree(seen)
	if schema.Broken > 0 {
		f.findSchema(&schema, seen)
	}
	out := []Tree{schema}
	for _, page := range schema.Pages {
		_, _ = f.Rows(page, func(r Row) error { // it returns no error
			if t, root, ok := described(r); ok && root > 1 && root <= f.pages && !seen[root] {
				found := f.walk(root, seen)
				found.Kind, found.Name = t.Kind, t.Name
				out = append(out, found)
			} else if ok && root > 0 {
				t.Broken++
				out = append(out, t)
			}
			return nil
		})
	}
	return append(out, f.lost(seen)...)
}

// findSchema adds the pages to the schema that have its rows and that nothing leads to.
func (f *File) findSchema(schema *Tree, seen []bool) {
	for n := uint32(2); n <= f.pages; n++ {
		if t, ok := f.node(n); seen[n] || !ok || t.kind != tableLeaf {
			continue
		}
		rows, others := 0, 0
		_, _ = f.Rows(n, func(r Row) error { // it returns no error
			if _, _, ok := described(r); ok {
				rows++
			} else {
				others++
			}
			return nil
		})
		if rows > 0 && others == 0 {
			seen[n] = true
			schema.Pages = append(schema.Pages, n)
		}
	}
}

// described returns what a row of the schema says; its root is 0 where it has none. ok is false if it is not of the schema.
func described(r Row) (t Tree, root uint32, ok bool) {
	if len(r.Values) != 5 {
		return t, 0, false
	}
	t.Kind, _ = r.Values[0].(string)
	t.Name, _ = r.Values[1].(string)
	n, _ := r.Values[3].(int64)
	switch text, _ := r.Values[4].(string); t.Kind {
	case "table", "index":
		return t, uint32(max(0, min(n, 1<<31))), strings.HasPrefix(text, "CREATE ") || r.Values[4] == nil
	case "trigger", "view":
		return t, 0, strings.HasPrefix(text, "CREATE ")
	}
	return t, 0, false
}

// walk returns the tree below page root, and marks its pages as seen.
func (f *File) walk(root uint32, seen []bool) (t Tree) {
	for todo := []uint32{root}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == 0 || n > f.pages || seen[n] {
			t.Broken++
			continue
		}
		page, ok := f.node(n)
		index := page.kind == indexLeaf || page.kind == indexInterior
		if !ok || len(t.Pages) > 0 && index != t.Index {
			t.Broken++
			continue
		}
		seen[n], t.Index = true, index
		t.Pages = append(t.Pages, n)
		todo = append(todo, page.children()...)
	}
	return t
}

// skipFree marks the pages that are in no use, which may have rows that were deleted.
func (f *File) skipFree(seen []bool) {
	first := f.page(1)
	if first == nil || string(first[:16]) != "SQLite format 3\x00" {
		return
	}
	for n := binary.BigEndian.Uint32(first[32:]); n > 0 && n <= f.pages && !seen[n]; {
		b := f.page(n)
		if b == nil || int(binary.BigEndian.Uint32(b[4:])) > len(b)/4-2 {
			return // damaged
		}
		seen[n] = true
		for i := range int(binary.BigEndian.Uint32(b[4:])) {
			if leaf := binary.BigEndian.Uint32(b[8+4*i:]); leaf > 0 && leaf <= f.pages {
				seen[leaf] = true
			}
		}
		n = binary.BigEndian.Uint32(b)
	}
}

// lost returns the trees of the pages that were not seen: first those below pages that no other leads to.
func (f *File) lost(seen []bool) (out []Tree) {
	below := make([]bool, f.pages+1)
	var roots, rest []uint32
	for n := uint32(2); n <= f.pages; n++ {
		if seen[n] {
			continue
		}
		t, ok := f.node(n)
		if !ok {
			continue
		}
		rest = append(rest, n)
		for _, child := range t.children() {
			if child <= f.pages && child != n {
				below[child] = true
			}
		}
	}
	for _, n := range rest {
		if !below[n] {
			roots = append(roots, n)
		}
	}
	for _, n := range append(roots, rest...) { // of rings there is no first page
		if !seen[n] {
			out = append(out, f.walk(n, seen))
		}
	}
	return out
}
