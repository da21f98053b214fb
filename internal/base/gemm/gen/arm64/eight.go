package main

import "fmt"

// eight is 8 float32 in two registers, which are neighbours, or the same for a
// constant. Instructions on them are emitted twice.
type eight [2]vector

// eight takes two registers until the end of the function.
func (a *assembly) eight() eight {
	v := a.take(2)
	return eight{v, v + 1}
}

func (a *assembly) take(n vector) vector {
	v := a.used
	a.used += n
	if a.used > 32 {
		panic("too few registers")
	}
	return v
}

// broadcast loads a float32 into all elements of a register that it takes.
func (a *assembly) broadcast(place string) eight {
	v := a.take(1)
	a.line("FMOVS %s, F%d", place, v)
	a.line("VDUP V%d.S[0], %s", v, v.s())
	return eight{v, v}
}

// op emits d = x op y.
func (a *assembly) op(code uint32, d, x, y eight) {
	for i := range d {
		a.of2(code, d[i], x[i], y[i])
	}
}

// op1 emits d = op x.
func (a *assembly) op1(code uint32, d, x eight) {
	for i := range d {
		a.of1(code, d[i], x[i])
	}
}

// bits emits an operation of Go's assembler on integers, d = x op y; the arrangement
// of elements is S4 or B16.
func (a *assembly) bits(name, arrangement string, d, x, y eight) {
	for i := range d {
		a.line("%s V%d.%s, V%d.%s, V%d.%s", name, y[i], arrangement, x[i], arrangement, d[i], arrangement)
	}
}

// next ends a loop: it moves the addresses by 8 elements, subtracts 8 from n and
// goes on while n is positive.
func (a *assembly) next(n string, addresses ...string) {
	for _, r := range addresses {
		a.line("ADD $32, %s", r)
	}
	a.line("SUBS $8, %s", n)
	a.line("BGT loop")
	a.line("RET")
}

// tableAt is the register that holds the address of the constants.
const tableAt = "R9"

// begin loads the address of the constants.
func (a *assembly) begin() { a.line("MOVD $·constants(SB), %s", tableAt) }

// constant loads 4 times the value with these bits into v.
func (a *assembly) constant(v vector, bits uint32) eight {
	i := 0
	for i < len(a.constants) && a.constants[i] != bits {
		i++
	}
	if i == len(a.constants) {
		a.constants = append(a.constants, bits)
	}
	a.line("FMOVQ %d(%s), F%d", 16*i, tableAt, v)
	return eight{v, v}
}

// table emits the constants.
func (a *assembly) table() {
	fmt.Fprintln(a)
	for i, v := range a.constants {
		for k := range 2 {
			fmt.Fprintf(a, "DATA ·constants+%d(SB)/8, $0x%08[2]x%08[2]x\n", 16*i+8*k, v)
		}
	}
	fmt.Fprintf(a, "GLOBL ·constants(SB), RODATA|NOPTR, $%d\n", 16*len(a.constants))
}
