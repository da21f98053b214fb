package gemm

// Pack stores the transpose of x, row-major rows×cols, in dst: rows of x become
// columns of panels. The rest of the last panel's columns becomes zero in the
// first cols rows.
func Pack(dst Panels, x []float32, rows, cols int) {
	for r := 0; r < rows; r += Width {
		panel := dst.Data[r/Width*dst.Panel:]
		for c := range cols {
			lanes := (*[Width]float32)(panel[c*dst.Row:])
			for l := range lanes {
				lanes[l] = 0
				if r+l < rows {
					lanes[l] = x[(r+l)*cols+c]
				}
			}
		}
	}
}

// Unpack is the inverse of Pack: it stores the transpose of the first cols rows
// of src in dst, row-major rows×cols.
func Unpack(dst []float32, src Panels, rows, cols int) {
	for r := range rows {
		panel := src.Data[r/Width*src.Panel+r%Width:]
		for c := range cols {
			dst[r*cols+c] = panel[c*src.Row]
		}
	}
}

// Transpose stores the transpose of src, rows×cols, in dst, cols×rows. Both
// numbers are multiples of 16.
func Transpose(dst, src Panels, rows, cols int) {
	for r := range rows {
		for c := range cols {
			dst.Data[c*dst.Row+r/Width*dst.Panel+r%Width] = src.Data[r*src.Row+c/Width*src.Panel+c%Width]
		}
	}
}
