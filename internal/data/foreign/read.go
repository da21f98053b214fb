package foreign

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"io"
	"os"
	"syscall"

	"tiebreak/internal/data/jsonlimit"
	"tiebreak/internal/idrl"
	"tiebreak/internal/look/clip"
)

// A Refusal begins the codes of errors about what was given; codes are for programs, and stay. The
// errors of an empty one have no codes.
type Refusal string

// Errorf returns an error of kind Invalid whose text begins with the code, after that of r.
func (r Refusal) Errorf(code, format string, args ...any) error {
	if r != "" {
		format = string(r) + "-" + code + ": " + format
	}
	return idrl.Errorf(idrl.Invalid, format, args...)
}

// ReadFile reads a plain file of at most so many bytes. The codes of its errors are "missing" and "limit".
func (r Refusal) ReadFile(root *os.Root, name string, most int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, r.Errorf("missing", "%s cannot be opened: %v", name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, r.Errorf("missing", "%s is not a plain file", name)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe in its place does not block
	if err != nil {
		return nil, r.Errorf("missing", "%s cannot be read: %v", name, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, r.Errorf("missing", "%s cannot be read: %v", name, err)
	case int64(len(b)) > most:
		return nil, r.Errorf("limit", "%s has more than %d bytes", name, most)
	}
	return b, nil
}

// Decode reads one value in JSON, without fields that dst does not have and within limits.
func Decode(from io.Reader, limits jsonlimit.Limits, dst any) error {
	dec := json.NewDecoder(jsonlimit.NewReader(from, limits))
	dec.DisallowUnknownFields()
	if err := dec.Decode(dst); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one value")
	}
	return nil
}

// ReadPicture reads a PNG or JPEG in base64.
func ReadPicture(text string) (image.Image, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, idrl.Errorf(idrl.Invalid, "it is not base64: %v", err)
	}
	return clip.ReadPicture(b)
}
