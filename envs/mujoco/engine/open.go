//go:build cgo && (linux || darwin)

package engine

/*
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"
)

// opened is the library in use.
type opened struct {
	candidate
	version string // "3.3.7"
	err     error  // why there is none
}

// open looks for the library once and takes the first that can be used.
var open = sync.OnceValue(func() opened {
	var tried []attempt
	for _, c := range here().candidates() {
		version, err := try(c.path)
		if err == nil {
			return opened{candidate: c, version: version}
		}
		tried = append(tried, attempt{c, err.Error()})
	}
	return opened{err: missing(tried)}
})

// try opens the library at path and checks that its structures are read rightly.
// It returns its version.
func try(path string) (string, error) {
	text := (*C.char)(C.calloc(1, C.TB_TEXT))
	defer C.free(unsafe.Pointer(text))
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	if C.tb_open(name, text) != C.TB_OK {
		return "", fmt.Errorf("%s", C.GoString(text))
	}
	version := C.GoString(C.tb_version_text())
	err := selfCheck()
	switch {
	case err != nil && C.tb_known() == 0:
		return "", fmt.Errorf("version %s is newer than this program knows, and its structures differ (%w); install a release up to %s, or a newer Tiebreak", version, err, newest())
	case err != nil:
		return "", fmt.Errorf("version %s does not work as its release does: %w", version, err)
	}
	return version, nil
}

// newest returns the newest version whose structures are known.
func newest() string {
	n := int(C.tb_newest())
	return fmt.Sprintf("%d.%d.%d", n/1000000, n/1000%1000, n%1000)
}

// Check returns nil if models can be loaded, else an error of kind Invalid that
// says what to install.
func Check() error { return open().err }

// Version returns the version of the library that was found, as it says it:
// "2.2.2"; nothing if there is none.
func Version() string { return open().version }

// Origin says where the library was found: its path and what it belongs to.
func Origin() string {
	o := open()
	if o.err != nil {
		return ""
	}
	return o.path + ", " + o.origin
}
