package solver

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"tiebreak/internal/idrl"
)

// tableMagic begins the file of a table and states the version of its form:
//
//	magic
//	length of the key, policies, parameters of each, features (uint32 each)
//	key
//	parameters of all policies, then their feature expectations (float64 each)
//	SHA-256 of all that
//
// Numbers are little-endian.
const tableMagic = "tiebreak policy table 1\n"

const tableHead = len(tableMagic) + 4*4 // bytes before the key

// SaveTable writes t to a file under the key of its configuration. The file appears completely or
// not at all, and is durable on return. It returns an error of kind Invalid if t is empty or its
// rows differ in length.
func SaveTable(path, key string, t *Table) error {
	b, err := encodeTable(key, t)
	if err != nil {
		return err
	}
	if err := writeWhole(path, b); err != nil {
		return fmt.Errorf("save table of policies: %w", err)
	}
	return nil
}

// LoadTable reads a file of SaveTable with the key. It returns an error of kind NotFound if there
// is no file or its table has another key, and one of kind Invalid if the file is damaged or of
// another version; in both cases the table must be built again.
func LoadTable(path, key string) (*Table, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, idrl.Errorf(idrl.NotFound, "there is no table of policies at %s; build it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("load table of policies: %w", err)
	}
	t, stored, ok := decodeTable(b)
	if !ok {
		return nil, idrl.Errorf(idrl.Invalid, "%s is damaged or not a table of policies of this version; build it again", path)
	}
	if stored != key {
		return nil, idrl.Errorf(idrl.NotFound, "the table of policies at %s was built from another configuration; build it again", path)
	}
	return t, nil
}

func encodeTable(key string, t *Table) ([]byte, error) {
	n := len(t.Params)
	if n == 0 || len(t.Mu) != n {
		return nil, idrl.Errorf(idrl.Invalid, "a table with %d policies and %d feature expectations cannot be saved", n, len(t.Mu))
	}
	b := []byte(tableMagic)
	for _, v := range []int{len(key), n, len(t.Params[0]), len(t.Mu[0])} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = append(b, key...)
	for _, rows := range [][][]float64{t.Params, t.Mu} {
		for i, row := range rows {
			if len(row) != len(rows[0]) {
				return nil, idrl.Errorf(idrl.Invalid, "policy %d of the table has %d numbers where the first has %d", i, len(row), len(rows[0]))
			}
			for _, v := range row {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			}
		}
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// decodeTable is the inverse of encodeTable; ok is false if b is no result of it.
func decodeTable(b []byte) (t *Table, key string, ok bool) {
	end := len(b) - sha256.Size
	if end < tableHead || !bytes.HasPrefix(b, []byte(tableMagic)) {
		return nil, "", false
	}
	if sum := sha256.Sum256(b[:end]); !bytes.Equal(sum[:], b[end:]) {
		return nil, "", false
	}
	var size [4]uint64 // of the key, policies, parameters, features
	for i := range size {
		size[i] = uint64(binary.LittleEndian.Uint32(b[len(tableMagic)+4*i:]))
	}
	body := b[tableHead:end]
	if size[0] > uint64(len(body)) {
		return nil, "", false
	}
	key, body = string(body[:size[0]]), body[size[0]:]
	width := 8 * (size[2] + size[3]) // bytes of a policy
	if width == 0 || len(body) == 0 || uint64(len(body))%width != 0 || uint64(len(body))/width != size[1] {
		return nil, "", false
	}
	t = &Table{Params: matrix(int(size[1]), int(size[2])), Mu: matrix(int(size[1]), int(size[3]))}
	for _, rows := range [][][]float64{t.Params, t.Mu} {
		for _, row := range rows {
			for i := range row {
				row[i] = math.Float64frombits(binary.LittleEndian.Uint64(body))
				body = body[8:]
			}
		}
	}
	return t, key, true
}

// writeWhole puts b in a new file beside path, makes it durable, and gives it
// the name path.
func writeWhole(path string, b []byte) error {
	dir := filepath.Dir(path)
	temp, err := writeTemp(dir, b)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncFolder(dir)
}

// writeTemp returns the name of a new durable file in dir that holds b.
func writeTemp(dir string, b []byte) (string, error) {
	f, err := os.CreateTemp(dir, ".table-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
