package main

import (
	"bytes"
	"fmt"
)

// assembly is the text of kernels as it grows, and the constants that they load.
type assembly struct {
	bytes.Buffer
	constants []uint32
	used      vector // vectors that the present function has taken
}

// vector is one of the 32 registers of 4 float32. Instructions of Go's assembler
// name it V or F and its number.
type vector int

// s and b are the register as 4 elements and as 16 bytes.
func (v vector) s() string { return fmt.Sprintf("V%d.S4", v) }
func (v vector) b() string { return fmt.Sprintf("V%d.B16", v) }

// line emits an instruction.
func (a *assembly) line(format string, args ...any) { fmt.Fprintf(a, "\t"+format+"\n", args...) }

func (a *assembly) label(name string) { fmt.Fprintf(a, "\n%s:\n", name) }

// function begins a function without a frame, whose parameters have that many bytes.
func (a *assembly) function(name, parameters string, bytes int) {
	a.used = 0
	fmt.Fprintf(a, "\n// func %s(%s)\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", name, parameters, name, bytes)
}

// Codes of instructions on 4 float32 that Go's assembler lacks, with registers 0
// (Arm Architecture Reference Manual for A-profile, DDI 0487, C7.2). Each result is
// rounded by itself, but for that of fmla.
const (
	fadd  = 0x4e20d400
	fsub  = 0x4ea0d400
	fmul  = 0x6e20dc00
	fdiv  = 0x6e20fc00
	fmin  = 0x4ea0f400 // NaN if an operand is
	fsqrt = 0x6ea1f800
	fabs  = 0x4ea0f800
	fcmgt = 0x4ea0c800 // all bits of an element are whether it is > 0
	fcmlt = 0x4ea0e800 // < 0
	fmla  = 0x4f801000 // by element 0 of the last operand
)

var names = map[uint32]string{
	fadd: "fadd", fsub: "fsub", fmul: "fmul", fdiv: "fdiv", fmin: "fmin", fsqrt: "fsqrt", fabs: "fabs",
	fcmgt: "fcmgt", fcmlt: "fcmlt", fmla: "fmla",
}

// word emits an instruction by its code, with what a disassembler prints for it.
func (a *assembly) word(code uint32, d, n, m vector, last string) {
	a.line("WORD $0x%08x // %s v%d.4s, v%d.4s%s", code|uint32(m<<16|n<<5|d), names[code], d, n, last)
}

// multiplyAdd adds n times the first element of m to d, and rounds once.
func (a *assembly) multiplyAdd(d, n, m vector) { a.word(fmla, d, n, m, fmt.Sprintf(", v%d.s[0]", m)) }

// of2 emits d = n op m.
func (a *assembly) of2(code uint32, d, n, m vector) {
	a.word(code, d, n, m, fmt.Sprintf(", v%d.4s", m))
}

// of1 emits d = op n.
func (a *assembly) of1(code uint32, d, n vector) { a.word(code, d, n, 0, "") }

// compare emits whether the elements of n are greater, or less, than zero.
func (a *assembly) compare(code uint32, d, n vector) { a.word(code, d, n, 0, ", #0.0") }

func (a *assembly) zero(v vector) { a.line("VEOR %s, %s, %s", v.b(), v.b(), v.b()) }

// load and store emit the transfer of two vectors that are neighbours.
func (a *assembly) load(place string, v vector) { a.line("FLDPQ %s, (F%d, F%d)", place, v, v+1) }

func (a *assembly) store(v vector, place string) { a.line("FSTPQ (F%d, F%d), %s", v, v+1, place) }
