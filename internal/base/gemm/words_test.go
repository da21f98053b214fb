//go:build disassembler

package gemm

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Instructions that Go's assembler for arm64 lacks are written as words. A disassembler
// reads in each what the comment beside it says. The task test:arm64 installs it.
func TestWordsOfNEON(t *testing.T) {
	const objdump = "aarch64-linux-gnu-objdump"
	text, err := os.ReadFile("kernels_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`(?m)^\tWORD \$0x([0-9a-f]{8}) // (.+)$`).FindAllSubmatch(text, -1)
	if n := bytes.Count(text, []byte("WORD")); n == 0 || len(words) != n {
		t.Fatalf("%d of %d words have a comment", len(words), n)
	}
	var code []byte
	for _, w := range words {
		v, err := strconv.ParseUint(string(w[1]), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		code = binary.LittleEndian.AppendUint32(code, uint32(v))
	}
	file := filepath.Join(t.TempDir(), "words")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(objdump, "-D", "-b", "binary", "-m", "aarch64", file).Output()
	if err != nil {
		t.Fatalf("%v (Debian: binutils-aarch64-linux-gnu)", err)
	}
	lines := regexp.MustCompile(`(?m)^ *[0-9a-f]+:\t[0-9a-f]{8} \t(.+)$`).FindAllSubmatch(said, -1)
	if len(lines) != len(words) {
		t.Fatalf("%s read %d instructions of %d", objdump, len(lines), len(words))
	}
	for i, w := range words {
		if got := strings.ReplaceAll(string(lines[i][1]), "\t", " "); got != string(w[2]) {
			t.Errorf("word %s is %s, and its comment says %s", w[1], got, w[2])
		}
	}
}
