package byfolder

import (
	"bytes"
	"testing"
)

// FuzzDecode: no bytes break it, and a file that is decoded has the bytes that encode makes.
func FuzzDecode(f *testing.F) {
	f.Add(encode("to.w1.s.l", [][]byte{[]byte("one"), nil}))
	f.Add(encode("to.w1", nil))
	f.Add([]byte("garbage"))
	f.Fuzz(func(t *testing.T, b []byte) {
		subject, messages, err := decode(b)
		if err == nil && !bytes.Equal(encode(subject, messages), b) {
			t.Errorf("%q is decoded as %q, %q", b, subject, messages)
		}
	})
}

func TestEntries(t *testing.T) {
	e := entry{hash: hashOf("to.w1"), number: 7, stream: randomName()}
	if got, ok := parseEntry(e.String()); !ok || got != e {
		t.Errorf("%v is read as %v, %v", e, got, ok)
	}
	for _, name := range []string{"", ".tmp-1", e.String() + "0", "../" + e.String(), e.String()[1:]} {
		if _, ok := parseEntry(name); ok {
			t.Errorf("%q is taken for the name of a file of messages", name)
		}
	}
}
