package tail

import (
	"bytes"
	"sync"
)

// most is how much is kept, bytes.
const most = 2000

// A Writer keeps the last 2,000 bytes that are written to it. The zero Writer is empty. Its methods
// may be called from any goroutine.
type Writer struct {
	lock sync.Mutex
	b    []byte // guarded by lock
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.b = append(w.b, p[max(0, len(p)-most):]...)
	if extra := len(w.b) - most; extra > 0 {
		w.b = append(w.b[:0], w.b[extra:]...)
	}
	return len(p), nil
}

// String returns what is kept, without space at its ends.
func (w *Writer) String() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return string(bytes.TrimSpace(w.b))
}
