package belief

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"tiebreak/internal/idrl"
)

// The encoding of a Gaussian: magic, version and d as little-endian uint32, then
// the mean and the upper triangle of Σ by rows as little-endian float64, and then
// the CRC-32C of all before it, which version 1 did not have.
const (
	codecMagic   = 0x4c454254 // "TBEL"
	codecVersion = 2
	codecHeader  = 12 // bytes
	codecSum     = 4  // bytes
)

// codecSize returns the number of bytes of the encoding of dimension d, without
// its sum.
func codecSize(d int) int { return codecHeader + 8*(d+d*(d+1)/2) }

// checksum returns the CRC-32C of data, which finds every change of up to 32
// neighbouring bits.
func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// MarshalBinary returns an encoding of g that gives back every bit.
func (g *Gaussian) MarshalBinary() ([]byte, error) {
	d := len(g.mean)
	out := make([]byte, 0, codecSize(d)+codecSum)
	for _, v := range [...]uint32{codecMagic, codecVersion, uint32(d)} {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	put := func(row []float64) {
		for _, v := range row {
			out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
	}
	put(g.mean)
	for i := range d {
		put(g.cov[i*d+i : (i+1)*d])
	}
	return binary.LittleEndian.AppendUint32(out, checksum(out)), nil
}

// UnmarshalBinary sets g, which must be new, to what data encodes. It refuses
// data that is cut, changed, of a later version, or not made of finite numbers with
// variances that are not negative.
func (g *Gaussian) UnmarshalBinary(data []byte) error {
	if g.mean != nil {
		return errors.New("belief: a Gaussian is immutable; decode into a new one")
	}
	if len(data) < codecHeader || binary.LittleEndian.Uint32(data) != codecMagic {
		return errors.New("belief: not an encoded Gaussian")
	}
	switch v := binary.LittleEndian.Uint32(data[4:]); v {
	case 1:
	case codecVersion:
		end := len(data) - codecSum
		if end < codecHeader || binary.LittleEndian.Uint32(data[end:]) != checksum(data[:end]) {
			return errors.New("belief: the encoding was changed or cut: its checksum is wrong")
		}
		data = data[:end]
	default:
		return fmt.Errorf("belief: encoding version %d; this program knows up to %d", v, codecVersion)
	}
	n := binary.LittleEndian.Uint32(data[8:])
	if n < 1 || n > MaxDim || len(data) != codecSize(int(n)) {
		return fmt.Errorf("belief: %d bytes do not encode %d dimensions", len(data), n)
	}
	out := blank(int(n))
	if err := out.decode(data[codecHeader:]); err != nil {
		return err
	}
	g.mean, g.cov = out.mean, out.cov
	return nil
}

// decode fills g from the numbers of an encoding, whose length is right.
func (g *Gaussian) decode(data []byte) error {
	d := len(g.mean)
	take := func(row []float64) {
		for i := range row {
			row[i] = math.Float64frombits(binary.LittleEndian.Uint64(data))
			data = data[8:]
		}
	}
	take(g.mean)
	for i := range d {
		take(g.cov[i*d+i : (i+1)*d])
		for j := i + 1; j < d; j++ {
			g.cov[j*d+i] = g.cov[i*d+j]
		}
		if !(g.cov[i*d+i] >= 0) {
			return fmt.Errorf("belief: variance %d is %v", i, g.cov[i*d+i])
		}
	}
	if !finite(g.mean...) || !finite(g.cov...) {
		return errors.New("belief: an encoded number is not finite")
	}
	return nil
}

// Encode implements idrl.RewardModel. It returns an error for a posterior that is not a
// *Gaussian.
func (m Model) Encode(p idrl.Posterior) ([]byte, error) {
	g, ok := p.(*Gaussian)
	if !ok {
		return nil, fmt.Errorf("posterior of type %T cannot be encoded", p)
	}
	return g.MarshalBinary()
}

// Decode implements idrl.RewardModel.
func (m Model) Decode(b []byte) (idrl.Posterior, error) {
	g := new(Gaussian)
	if err := g.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	if g.Dim() != m.Start.Dim() {
		return nil, fmt.Errorf("belief: it has %d dimensions and not %d", g.Dim(), m.Start.Dim())
	}
	return g, nil
}
