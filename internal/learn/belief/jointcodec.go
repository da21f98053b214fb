package belief

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"tiebreak/internal/idrl"
)

// The encoding of a Joint: magic and version as little-endian uint32, the length of the
// encoding of its Gaussian and that, the number of manners and of people, and for each of
// these the length of the id and that, offset and variance as float64, a bit for each
// manner whose log weight is not faintest, and those log weights as float32; then the CRC-32C
// of all before it.
const (
	jointMagic   = 0x4e4a4254 // "TBJN"
	jointVersion = 1

	maxPeople = 1 << 20
)

var errJoint = errors.New("belief: not an encoded belief about weights and annotators")

// MarshalBinary returns an encoding of j that gives back every bit.
func (j *Joint) MarshalBinary() ([]byte, error) {
	g, err := j.theta.MarshalBinary()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(g)+j.room())
	word := func(v int) { out = binary.LittleEndian.AppendUint32(out, uint32(v)) }
	word(jointMagic)
	word(jointVersion)
	word(len(g))
	out = append(out, g...)
	manners := 0
	if len(j.people) > 0 {
		manners = len(j.people[0].logs)
	}
	word(manners)
	word(len(j.people))
	for _, p := range j.people {
		word(len(p.id))
		out = append(out, p.id...)
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(p.offset))
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(p.offsetVar))
		out = append(out, p.marks()...)
		for _, l := range p.logs {
			if l > faintest {
				out = binary.LittleEndian.AppendUint32(out, math.Float32bits(l))
			}
		}
	}
	return binary.LittleEndian.AppendUint32(out, checksum(out)), nil
}

// room returns how many bytes beside those of the Gaussian the encoding may take.
func (j *Joint) room() int {
	n := 64
	for _, p := range j.people {
		n += 32 + len(p.id) + 5*len(p.logs)
	}
	return n
}

// marks returns a bit for each manner whose log weight is above faintest.
func (p person) marks() []byte {
	out := make([]byte, (len(p.logs)+7)/8)
	for k, l := range p.logs {
		if l > faintest {
			out[k/8] |= 1 << (k % 8)
		}
	}
	return out
}

// UnmarshalBinary sets j, which must be new, to what data encodes. It returns an error for data
// that is cut, changed, of a later version, or not the result of a fit.
func (j *Joint) UnmarshalBinary(data []byte) error {
	if j.theta != nil {
		return errors.New("belief: a Joint is immutable; decode into a new one")
	}
	if len(data) < 4+codecSum || binary.LittleEndian.Uint32(data) != jointMagic {
		return errJoint
	}
	end := len(data) - codecSum
	if binary.LittleEndian.Uint32(data[end:]) != checksum(data[:end]) {
		return errors.New("belief: the encoding was changed or cut: its checksum is wrong")
	}
	r := reader{data: data[4:end]}
	if v := r.word(); v != jointVersion {
		return fmt.Errorf("belief: encoding version %d; this program knows %d", v, jointVersion)
	}
	out := Joint{theta: new(Gaussian)}
	if err := out.theta.UnmarshalBinary(r.take(r.word())); err != nil {
		return err
	}
	manners, people := r.word(), r.word()
	if people > maxPeople {
		return errJoint
	}
	for range people {
		out.people = append(out.people, r.person(manners))
		if r.cut {
			return errJoint
		}
	}
	if r.cut || len(r.data) > 0 {
		return errJoint
	}
	*j = out
	return nil
}

// A reader reads values from the beginning of data. cut is set if data is too short, or a value
// is out of its range.
type reader struct {
	data []byte
	cut  bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.data) {
		r.cut, r.data = true, nil
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) word() int {
	if b := r.take(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (r *reader) number() float64 {
	if b := r.take(8); b != nil {
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *reader) person(manners int) person {
	p := person{id: idrl.AnnotatorID(r.take(r.word())), offset: r.number(), offsetVar: r.number(), kept: &keptBlend{}}
	if !finite(p.offset) || !(p.offsetVar >= 0) || math.IsInf(p.offsetVar, 1) {
		r.cut = true
		return p
	}
	marks := r.take((manners + 7) / 8)
	if r.cut {
		return p
	}
	p.logs = make([]float32, manners)
	for k := range p.logs {
		p.logs[k] = faintest
		if marks[k/8]&(1<<(k%8)) > 0 {
			p.logs[k] = math.Float32frombits(uint32(r.word()))
			r.cut = r.cut || !(p.logs[k] > faintest && p.logs[k] <= 0)
		}
	}
	return p
}

// Encode implements idrl.RewardModel. It returns an error for a posterior that is not a
// *Joint.
func (o Own) Encode(p idrl.Posterior) ([]byte, error) {
	j, ok := p.(*Joint)
	if !ok {
		return nil, fmt.Errorf("posterior of type %T cannot be encoded with annotators", p)
	}
	return j.MarshalBinary()
}

// Decode implements idrl.RewardModel.
func (o Own) Decode(b []byte) (idrl.Posterior, error) {
	j := new(Joint)
	if err := j.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	if j.Dim() != o.of.Start.Dim() {
		return nil, fmt.Errorf("belief: it has %d dimensions and not %d", j.Dim(), o.of.Start.Dim())
	}
	for _, p := range j.people {
		if len(p.logs) != len(o.list) {
			return nil, fmt.Errorf("belief: annotators answer in %d manners and not %d", len(p.logs), len(o.list))
		}
	}
	return j, nil
}
