package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readMeta reads the meta.json of the bundle at name and checks that a session can be made from it. It sets
// what that needs, and takes memory in proportion to the files that are listed.
func readMeta(r io.Reader, name string) (m meta, err error) {
	limited := &io.LimitedReader{R: r, N: maxMeta + 1}
	err = decodeMeta(json.NewDecoder(limited), &m)
	if limited.N <= 0 {
		return m, refused("meta", "meta.json has more than %d bytes", maxMeta)
	}
	if err != nil {
		return m, refused("meta", "meta.json is not valid: %v", err)
	}
	switch {
	case m.Format != "tiebreak.bundle" || m.Version < 1:
		return m, refused("meta", "%s is not a bundle of tiebreak: meta.json says that its format is %.40q", name, m.Format)
	case m.Version > SchemaVersion:
		return m, refused("newer", "the bundle was written by a newer version, %.40s: its schema_version is %d, and this program reads up to %d; use a newer tiebreak", m.Program, m.Version, SchemaVersion)
	case m.Version < SchemaVersion:
		return m, refused("older", "the bundle was written by an older version, %.40s: its schema_version is %d, and this program reads %d; import it with that version, then export it again with this one from the same data folder", m.Program, m.Version, SchemaVersion)
	case !m.Complete:
		return m, refused("part", "the bundle holds only a part of its session and cannot be imported: export it without --after, and with --answers all")
	case m.Session == "" || m.Records < 1:
		return m, refused("meta", "meta.json lacks the id of the session or the version of its records")
	}
	return m, nil
}

// decodeMeta decodes the fields that an import needs, and the list of files one by one.
func decodeMeta(d *json.Decoder, m *meta) error {
	if err := expect(d, '{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "format":
			err = d.Decode(&m.Format)
		case "schema_version":
			err = d.Decode(&m.Version)
		case "program":
			err = d.Decode(&m.Program)
		case "session_id":
			err = d.Decode(&m.Session)
		case "complete":
			err = d.Decode(&m.Complete)
		case "records_version":
			err = d.Decode(&m.Records)
		case "files":
			m.Files, err = decodeFiles(d)
		default:
			err = d.Decode(new(json.RawMessage)) // no values are made of it
		}
		if err != nil {
			return fmt.Errorf("%.40v: %w", key, err)
		}
	}
	return expect(d, '}')
}

// decodeFiles decodes the list of files.
func decodeFiles(d *json.Decoder) (out []fileEntry, err error) {
	if err := expect(d, '['); err != nil {
		return nil, err
	}
	total := int64(0)
	for d.More() {
		var f fileEntry
		if err := d.Decode(&f); err != nil {
			return nil, err
		}
		if f.Name == "" || len(f.SHA256) != 64 || f.Bytes < 0 || f.Bytes > maxTotal-total {
			return nil, fmt.Errorf("file %d has no name, bytes or SHA-256, or all files have more than %d bytes", len(out), int64(maxTotal))
		}
		if total += f.Bytes; len(out) >= maxEntries {
			return nil, fmt.Errorf("there are more than %d", maxEntries)
		}
		out = append(out, f)
	}
	return out, expect(d, ']')
}

func expect(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err == nil && t != want {
		err = fmt.Errorf("there is %.40v in the place of %v", t, want)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
