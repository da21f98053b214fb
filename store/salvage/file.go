package salvage

import (
	"encoding/binary"
	"io"
)

// A File is a database file with its write-ahead log.
type File struct {
	db     Source
	wal    Source
	frames map[uint32]int64 // by page: where the newest committed copy is in the log
	size   int              // bytes of a page
	usable int              // bytes of a page that SQLite uses
	pages  uint32
}

// A Source is a file that is open; the zero value is an empty one.
type Source struct {
	From io.ReaderAt
	Size int64
}

// ReadAt implements io.ReaderAt.
func (s Source) ReadAt(b []byte, at int64) (int, error) {
	if s.From == nil {
		return 0, io.EOF
	}
	return s.From.ReadAt(b, at)
}

// Open looks at the headers of a database and of its write-ahead log. Where a header is damaged it assumes the sizes that
// SQLite uses by default.
func Open(db, wal Source) *File {
	f := &File{db: db, wal: wal, frames: map[uint32]int64{}, size: 4096}
	head := make([]byte, 100)
	n, _ := db.ReadAt(head, 0)
	f.usable = f.size
	if size := pageSize(binary.BigEndian.Uint16(head[16:])); n == 100 && string(head[:16]) == "SQLite format 3\x00" && size > 0 {
		f.size, f.usable = size, size
		if reserved := int(head[20]); size-reserved >= 480 {
			f.usable = size - reserved
		}
	}
	f.pages = uint32(min(db.Size/int64(f.size), 1<<31))
	f.readLog(wal)
	return f
}

// pageSize returns the size of pages in bytes that a header states; 0 if it is none.
func pageSize(v uint16) int {
	switch {
	case v == 1:
		return 1 << 16
	case v >= 512 && v&(v-1) == 0:
		return int(v)
	}
	return 0
}

const (
	logHead   = 32 // bytes
	frameHead = 24
)

// readLog finds the committed frames of a write-ahead log, up to the first that is damaged.
func (f *File) readLog(wal Source) {
	head := make([]byte, logHead)
	if n, _ := wal.ReadAt(head, 0); n < logHead || int(binary.BigEndian.Uint32(head[8:])) != f.size {
		return
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch binary.BigEndian.Uint32(head) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return
	}
	s0, s1 := sum(order, 0, 0, head[:24])
	if s0 != binary.BigEndian.Uint32(head[24:]) || s1 != binary.BigEndian.Uint32(head[28:]) {
		return
	}
	pending := map[uint32]int64{}
	frame := make([]byte, frameHead+f.size)
	for at := int64(logHead); at+int64(len(frame)) <= wal.Size; at += int64(len(frame)) {
		if n, _ := wal.ReadAt(frame, at); n < len(frame) || string(frame[8:16]) != string(head[16:24]) {
			return
		}
		s0, s1 = sum(order, s0, s1, frame[:8])
		s0, s1 = sum(order, s0, s1, frame[frameHead:])
		if s0 != binary.BigEndian.Uint32(frame[16:]) || s1 != binary.BigEndian.Uint32(frame[20:]) {
			return
		}
		pending[binary.BigEndian.Uint32(frame)] = at + frameHead
		if size := binary.BigEndian.Uint32(frame[4:]); size > 0 { // a commit: the size of the database after it
			for page, at := range pending {
				f.frames[page] = at
			}
			clear(pending)
			f.pages = min(max(size, f.pages), uint32(min(f.db.Size+wal.Size, 1<<40)/int64(f.size)+1))
		}
	}
}

// sum continues the checksum of a write-ahead log over b, whose length is a multiple of 8.
func sum(order binary.ByteOrder, s0, s1 uint32, b []byte) (uint32, uint32) {
	for ; len(b) >= 8; b = b[8:] {
		s0 += order.Uint32(b) + s1
		s1 += order.Uint32(b[4:]) + s0
	}
	return s0, s1
}

// page returns the usable bytes of a page; nil if there is none.
func (f *File) page(n uint32) []byte {
	if n == 0 || n > f.pages {
		return nil
	}
	b := make([]byte, f.size)
	from, at := f.db, int64(n-1)*int64(f.size)
	if frame, ok := f.frames[n]; ok {
		from, at = f.wal, frame
	}
	if got, _ := from.ReadAt(b, at); got < f.size {
		return nil
	}
	return b[:f.usable]
}

// Pages returns the number of pages.
func (f *File) Pages() int { return int(f.pages) }
