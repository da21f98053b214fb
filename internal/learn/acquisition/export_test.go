package acquisition

// Spread is Table.spread.
func Spread(t *Table, i, j int) float64 { return t.spread(i, j) }
