package gemm

// tile edge of the transposition.
const edge = 8

// tiles is n transpositions of 8 rows and up to 8 columns. Distances are in
// elements; those of the next tile may be negative.
type tiles struct {
	n, columns        int
	from              []float32
	fromRow, fromTile int
	to                []float32
	toRow, toTile     int
}

func (path Path) turn(s *tiles) {
	if s.n == 0 || vectorTiles(path, s) {
		return
	}
	for t := range s.n {
		for c := range s.columns {
			for r := range edge {
				s.to[t*s.toTile+c*s.toRow+r] = s.from[t*s.fromTile+r*s.fromRow+c]
			}
		}
	}
}

// Pack stores the transpose of x, row-major rows×cols, in dst: rows of x become
// columns of panels. The rest of the last panel's columns becomes zero in the
// first cols rows.
func (path Path) Pack(dst Panels, x []float32, rows, cols int) {
	r := 0
	for ; r+edge <= rows; r += edge {
		to, from := dst.Data[r/Width*dst.Panel+r%Width:], x[r*cols:]
		full := cols / edge
		path.turn(&tiles{full, edge, from, cols, edge, to, dst.Row, edge * dst.Row})
		if c := full * edge; c < cols {
			path.turn(&tiles{1, cols - c, from[c:], cols, 0, to[c*dst.Row:], dst.Row, 0})
		}
	}
	for ; r%Width != 0 || r < rows; r++ {
		to := dst.Data[r/Width*dst.Panel+r%Width:]
		for c := range cols {
			v := float32(0)
			if r < rows {
				v = x[r*cols+c]
			}
			to[c*dst.Row] = v
		}
	}
}

// Unpack is the inverse of Pack: it stores the transpose of the first cols rows
// of src in dst, row-major rows×cols.
func (path Path) Unpack(dst []float32, src Panels, rows, cols int) {
	if cols == 1 {
		for r := 0; r < rows; r += Width {
			copy(dst[r:rows], src.Data[r/Width*src.Panel:][:Width])
		}
		return
	}
	full, r := cols/edge, 0
	for ; r+edge <= rows; r += edge {
		from := src.Data[r/Width*src.Panel+r%Width:]
		path.turn(&tiles{full, edge, from, src.Row, edge * src.Row, dst[r*cols:], cols, edge})
		unpackRows(dst[r*cols:], from, src.Row, edge, full*edge, cols)
	}
	if r < rows {
		unpackRows(dst[r*cols:], src.Data[r/Width*src.Panel+r%Width:], src.Row, rows-r, 0, cols)
	}
}

// unpackRows stores n neighbouring columns of src, from row first to row cols−1,
// in rows of dst.
func unpackRows(dst, src []float32, row, n, first, cols int) {
	for c := first; c < cols; c++ {
		for i, v := range src[c*row:][:n] {
			dst[i*cols+c] = v
		}
	}
}

// Transpose stores the transpose of src, rows×cols, in dst, cols×rows. Both
// numbers are multiples of 16.
func (path Path) Transpose(dst, src Panels, rows, cols int) {
	for c := 0; c < cols; c += edge {
		for r := range Width / edge { // halves of dst's panels
			path.turn(&tiles{
				rows / Width, edge,
				src.Data[c/Width*src.Panel+r*edge*src.Row+c%Width:], src.Row, Width * src.Row,
				dst.Data[c*dst.Row+r*edge:], dst.Row, dst.Panel,
			})
		}
	}
}

// Gather copies columns of src, their first height rows, to dst, side by side. Both
// are packed.
func (path Path) Gather(dst, src Panels, columns []int, height int) {
	var at [edge]int32 // where the columns begin
	for j := 0; j < len(columns); j += edge {
		for l, c := range columns[j:min(j+edge, len(columns))] {
			at[l] = int32(c/Width*src.Panel + c%Width)
			_ = src.Data[int(at[l])+(height-1)*Width]
		}
		to := dst.Data[j/Width*dst.Panel+j%Width:][:height*Width-Width+edge]
		if vectorGather(path, to, src.Data, &at, height) {
			continue
		}
		for i := range height {
			for l, from := range at {
				to[i*Width+l] = src.Data[i*Width+int(from)]
			}
		}
	}
}
