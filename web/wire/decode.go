package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Refused says why a message was not accepted. It does not repeat the message, which may be
// anything.
type Refused struct {
	ID      string // of the message, if it could be read; else empty
	Code    Code
	Message string // for people
}

func (r *Refused) Error() string { return r.Message }

// Nak returns the message that tells the client.
func (r *Refused) Nak() *Nak { return &Nak{ID: r.ID, Code: r.Code, Message: r.Message} }

func refuse(code Code, format string, args ...any) error {
	return &Refused{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Decode reads a message from a client. It refuses everything that is not exactly in the schema: an
// unknown type or field, a field twice, a value of another type, an invalid id, a size over its
// limit. The error is a *Refused.
func Decode(b []byte) (FromClient, error) {
	if len(b) > MaxMessage {
		return nil, refuse(TooLarge, "The message has %d bytes; at most %d are allowed.", len(b), MaxMessage)
	}
	if t, ok := plainType(b); ok {
		if m, err := decodeAs(t, b); err == nil {
			return m, nil
		}
	}
	return decodeSlowly(b)
}

// maxFields is above the number of fields of any message.
const maxFields = 24

// plainType returns the field t of a message that checkShape accepts; ok is false for all others,
// and for a few that it accepts. Unlike checkShape it allocates only t.
func plainType(b []byte) (t string, ok bool) {
	if !utf8.Valid(b) || !json.Valid(b) {
		return "", false
	}
	var fields [maxFields][]byte
	var kind, text, field []byte // the field t, the last string, and the field whose value is being read
	n, inObject, inList := 0, false, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			begin := i + 1
			for i = begin; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if text = b[begin:i]; string(field) == "t" {
				kind = text
			}
		case c == ':':
			if n == maxFields || !plainKey(string(text)) || containsText(fields[:n], text) {
				return "", false
			}
			field, fields[n] = text, text
			n++
		case c == ',' && !inList:
			field = nil
		case c == '{' && !inObject && !inList:
			inObject = true
		case c == '[' && inObject && !inList:
			inList = true
		case c == ']':
			inList = false
		case c == '{' || c == '[':
			return "", false
		}
	}
	return string(kind), len(kind) > 0
}

func containsText(list [][]byte, text []byte) bool {
	return slices.ContainsFunc(list, func(other []byte) bool { return bytes.Equal(other, text) })
}

// decodeSlowly is Decode for any message up to the limit; its error says what is wrong.
func decodeSlowly(b []byte) (FromClient, error) {
	if err := checkShape(b); err != nil {
		return nil, err
	}
	var head struct {
		T          string `json:"t"`
		ID         string `json:"id"`
		Assignment string `json:"assignment"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, refuse(Invalid, "The fields t, id and assignment must be strings.")
	}
	m, err := decodeAs(head.T, b)
	var r *Refused
	if !errors.As(err, &r) {
		return m, nil
	}
	for _, id := range []string{head.ID, head.Assignment} {
		if r.ID == "" && ValidID(id) {
			r.ID = id
		}
	}
	return nil, r
}

// tag takes the field "t" of a message while it is read strictly.
type tag struct {
	T string `json:"t"`
}

// decodeAs reads b as a message of type t.
func decodeAs(t string, b []byte) (FromClient, error) {
	switch t {
	case "hello":
		m := &ClientHello{}
		return m, strict(b, m, &struct {
			tag
			*ClientHello
		}{ClientHello: m})
	case "answer":
		m := &Answer{}
		return m, strict(b, m, &struct {
			tag
			*Answer
		}{Answer: m})
	case "undo":
		m := &Undo{}
		return m, strict(b, m, &struct {
			tag
			*Undo
		}{Undo: m})
	case "renew":
		m := &Renew{}
		return m, strict(b, m, &struct {
			tag
			*Renew
		}{Renew: m})
	case "":
		return nil, refuse(Invalid, "The message has no type; set t to hello, answer, undo or renew.")
	}
	return nil, refuse(Unknown, "The server does not know this type of message; it takes hello, answer, undo and renew. Reload the page to get a newer version.")
}

// strict decodes b into dst, which embeds m, and checks m.
func strict(b []byte, m interface{ check() error }, dst any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(dst); err != nil {
		return refuse(Invalid, "The %s does not fit the schema: a field is unknown or of the wrong type.", typeName(m))
	}
	return m.check()
}

// checkShape refuses what encoding/json accepts: bytes after the object, keys twice or in other
// letters, deep nesting, text that is not UTF-8.
func checkShape(b []byte) error {
	if !utf8.Valid(b) {
		return refuse(Invalid, "The message is not UTF-8 text.")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		return refuse(Invalid, "The message is not a JSON object.")
	}
	seen := map[string]bool{}
	for d.More() {
		tok, err := d.Token()
		key, ok := tok.(string)
		if err != nil || !ok {
			return refuse(Invalid, "The message is not valid JSON.")
		}
		if seen[key] || !plainKey(key) {
			return refuse(Invalid, "A field appears twice or is not a field of this protocol.")
		}
		seen[key] = true
		if err := skipValue(d); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return refuse(Invalid, "The message is not valid JSON.")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return refuse(Invalid, "There is text after the message; send one object a message.")
	}
	return nil
}

// skipValue reads a scalar or a flat array.
func skipValue(d *json.Decoder) error {
	tok, err := d.Token()
	if err == nil && tok == json.Delim('[') {
		for err == nil && d.More() {
			if tok, err = d.Token(); err == nil {
				if _, nested := tok.(json.Delim); nested {
					return refuse(Invalid, "The message is nested too deeply.")
				}
			}
		}
		if err == nil {
			_, err = d.Token()
		}
	} else if _, nested := tok.(json.Delim); err == nil && nested {
		return refuse(Invalid, "The message is nested too deeply.")
	}
	if err != nil {
		return refuse(Invalid, "The message is not valid JSON.")
	}
	return nil
}

// plainKey keeps encoding/json from matching keys that differ in case.
func plainKey(key string) bool {
	for _, r := range key {
		if !(r >= 'a' && r <= 'z' || r == '_') {
			return false
		}
	}
	return true
}
