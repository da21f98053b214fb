package numpy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
)

// An unpickler reads a pickle of protocol 2 to 5. A pickle is a program for a machine with a
// stack, and may call any function of Python; this machine knows the operations and the five
// functions that arrays and lists of numbers are written with, and refuses all others.
type unpickler struct {
	in    []byte
	at    int
	stack []any
	marks []int // heights of the stack
	memo  map[uint32]any

	encoded int // bytes that calls of makeBytes have made
}

// What is on the stack, besides nil, bool, int64, float64, string and []byte.
type (
	function string // "module.name"
	sequence struct {
		items []any
		fixed bool // a tuple
	}
	dtype struct {
		kind  string
		order binary.ByteOrder
	}
	ndarray struct {
		of      *dtype // nil until it is complete
		shape   []int
		fortran bool
		data    []byte
	}
)

// Limits of the machine, far above what a million numbers need.
const (
	maxStack = 1 << 17
	maxMemo  = 1 << 22
	maxList  = 1 << 21
)

var errEnds = errors.New("it ends too early: the file was not copied whole, or is no pickle")

// unpickle returns the object that a pickle holds.
func unpickle(b []byte) (any, error) {
	u := &unpickler{in: b, memo: map[uint32]any{}}
	if len(b) < 2 || b[0] != opProto || b[1] < 2 || b[1] > 5 {
		return nil, errors.New("it is not a pickle of protocol 2 to 5, and not a file of numpy.save")
	}
	for {
		op, err := u.byte()
		if err != nil {
			return nil, err
		}
		if op == opStop {
			break
		}
		if err := u.do(op); err != nil {
			return nil, err
		}
		if len(u.stack) > maxStack || len(u.memo) > maxMemo {
			return nil, errors.New("it holds too much")
		}
	}
	if u.at != len(u.in) {
		return nil, fmt.Errorf("there are %d bytes after its end", len(u.in)-u.at)
	}
	v, err := u.pop()
	if err == nil && (len(u.stack) > 0 || len(u.marks) > 0) {
		err = errors.New("it is not complete")
	}
	return v, err
}

// Operations, by their names in Python's pickletools.
const (
	opProto, opStop, opFrame                                 = 0x80, '.', 0x95
	opMark, opTuple, opTuple1, opTuple2, opTuple3, opNoTuple = '(', 't', 0x85, 0x86, 0x87, ')'
	opList, opAppend, opAppends                              = ']', 'a', 'e'
	opPut, opLongPut, opMemoize, opGet, opLongGet            = 'q', 'r', 0x94, 'h', 'j'
	opNone, opTrue, opFalse                                  = 'N', 0x88, 0x89
	opInt, opInt1, opInt2, opLong1, opFloat                  = 'J', 'K', 'M', 0x8a, 'G'
	opText, opShortText, opLongText                          = 'X', 0x8c, 0x8d
	opBytes, opShortBytes, opLongBytes, opByteArray          = 'B', 'C', 0x8e, 0x96
	opGlobal, opStackGlobal, opReduce, opBuild               = 'c', 0x93, 'R', 'b'
)

// do does one operation.
func (u *unpickler) do(op byte) error {
	switch op {
	case opProto:
		_, err := u.byte()
		return err
	case opFrame:
		_, err := u.take(8) // how long the frame is, which a file in memory does not need
		return err
	case opNone:
		return u.push(nil, nil)
	case opTrue, opFalse:
		return u.push(op == opTrue, nil)
	case opInt, opInt1, opInt2, opLong1, opFloat:
		return u.push(u.numeral(op))
	case opText, opShortText, opLongText:
		b, err := u.counted(map[byte]int{opText: 4, opShortText: 1, opLongText: 8}[op])
		return u.push(string(b), err)
	case opBytes, opShortBytes, opLongBytes, opByteArray:
		b, err := u.counted(map[byte]int{opBytes: 4, opShortBytes: 1, opLongBytes: 8, opByteArray: 8}[op])
		return u.push(b, err)
	case opPut, opLongPut, opMemoize, opGet, opLongGet:
		return u.remember(op)
	case opMark, opTuple, opTuple1, opTuple2, opTuple3, opNoTuple, opList, opAppend, opAppends:
		return u.collect(op)
	case opGlobal, opStackGlobal, opReduce, opBuild:
		return u.call(op)
	}
	return fmt.Errorf("byte %d is an operation (%#x) that arrays and lists of numbers do not need: it is not executed", u.at-1, op)
}

func (u *unpickler) take(n uint64) ([]byte, error) {
	if n > uint64(len(u.in)-u.at) { //nolint:gosec // at never passes the end
		return nil, errEnds
	}
	b := u.in[u.at : u.at+int(n)] //nolint:gosec // it fits
	u.at += int(n)                //nolint:gosec // it fits
	return b, nil
}

func (u *unpickler) byte() (byte, error) {
	b, err := u.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// uint reads n bytes, little-endian.
func (u *unpickler) uint(n int) (uint64, error) {
	var full [8]byte
	b, err := u.take(uint64(n)) //nolint:gosec // 1 to 8
	copy(full[:], b)
	return binary.LittleEndian.Uint64(full[:]), err
}

// counted reads bytes that are counted in n bytes before them.
func (u *unpickler) counted(n int) ([]byte, error) {
	k, err := u.uint(n)
	if err != nil {
		return nil, err
	}
	return u.take(k)
}

func (u *unpickler) push(v any, err error) error {
	if err == nil {
		u.stack = append(u.stack, v)
	}
	return err
}

func (u *unpickler) pop() (any, error) {
	n := len(u.stack)
	if n == 0 || len(u.marks) > 0 && u.marks[len(u.marks)-1] == n {
		return nil, errors.New("an operation lacks its operand: it is damaged")
	}
	v := u.stack[n-1]
	u.stack = u.stack[:n-1]
	return v, nil
}

// popTo returns what is above the last mark.
func (u *unpickler) popTo() ([]any, error) {
	if len(u.marks) == 0 {
		return nil, errors.New("an operation lacks its mark: it is damaged")
	}
	from := u.marks[len(u.marks)-1]
	u.marks = u.marks[:len(u.marks)-1]
	items := append([]any(nil), u.stack[from:]...)
	u.stack = u.stack[:from]
	return items, nil
}

// numeral reads a number of Python.
func (u *unpickler) numeral(op byte) (any, error) {
	switch op {
	case opFloat:
		b, err := u.take(8)
		if err != nil {
			return nil, err
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	case opLong1:
		b, err := u.counted(1)
		if len(b) > 8 {
			return nil, errors.New("it holds a number of more than 64 bits")
		}
		var full [8]byte
		if len(b) > 0 && b[len(b)-1]&0x80 != 0 { // negative
			for i := range full {
				full[i] = 0xff
			}
		}
		copy(full[:], b)
		return int64(binary.LittleEndian.Uint64(full[:])), err //nolint:gosec // two's complement
	}
	k, err := u.uint(map[byte]int{opInt: 4, opInt1: 1, opInt2: 2}[op])
	if op == opInt {
		return int64(int32(uint32(k))), err //nolint:gosec // two's complement
	}
	return int64(k), err //nolint:gosec // at most two bytes
}

// remember stores what is on top of the stack, or brings back what was stored.
func (u *unpickler) remember(op byte) error {
	at := uint64(len(u.memo))
	var err error
	switch op {
	case opPut, opGet:
		at, err = u.uint(1)
	case opLongPut, opLongGet:
		at, err = u.uint(4)
	}
	if err != nil {
		return err
	}
	if op == opGet || op == opLongGet {
		v, ok := u.memo[uint32(at)] //nolint:gosec // at most four bytes
		if !ok {
			return errors.New("it refers to something that it does not hold: it is damaged")
		}
		return u.push(v, nil)
	}
	v, err := u.pop()
	if err != nil {
		return err
	}
	u.memo[uint32(at)] = v //nolint:gosec // at most four bytes
	return u.push(v, nil)
}

// collect makes tuples and lists.
func (u *unpickler) collect(op byte) (err error) {
	var items []any
	switch op {
	case opMark:
		u.marks = append(u.marks, len(u.stack))
		if len(u.marks) > maxStack {
			return errors.New("it holds too much")
		}
		return nil
	case opList:
		return u.push(&sequence{}, nil)
	case opNoTuple:
		return u.push(&sequence{fixed: true}, nil)
	case opTuple:
		if items, err = u.popTo(); err != nil {
			return err
		}
		return u.push(&sequence{items, true}, nil)
	case opTuple1, opTuple2, opTuple3:
		items = make([]any, 1+op-opTuple1)
		for i := len(items) - 1; i >= 0; i-- {
			if items[i], err = u.pop(); err != nil {
				return err
			}
		}
		return u.push(&sequence{items, true}, nil)
	case opAppend:
		v, err := u.pop()
		if err != nil {
			return err
		}
		items = []any{v}
	case opAppends:
		if items, err = u.popTo(); err != nil {
			return err
		}
	}
	v, err := u.pop()
	if err != nil {
		return err
	}
	list, ok := v.(*sequence)
	if !ok || list.fixed {
		return errors.New("something is appended to what is no list: it is damaged")
	}
	if list.items = append(list.items, items...); len(list.items) > maxList {
		return fmt.Errorf("%w: a list has more than %d items", ErrMany, maxList)
	}
	return u.push(list, nil)
}

// call looks up functions, and does what they would.
func (u *unpickler) call(op byte) error {
	switch op {
	case opGlobal:
		module, err := u.line()
		if err != nil {
			return err
		}
		name, err := u.line()
		if err != nil {
			return err
		}
		return u.push(known(module, name))
	case opStackGlobal:
		name, err := u.pop()
		if err != nil {
			return err
		}
		module, err := u.pop()
		if err != nil {
			return err
		}
		m, isText := module.(string)
		n, isName := name.(string)
		if !isText || !isName {
			return errors.New("a name is no text: it is damaged")
		}
		return u.push(known(m, n))
	}
	args, err := u.pop()
	if err != nil {
		return err
	}
	of, err := u.pop()
	if err != nil {
		return err
	}
	given, ok := args.(*sequence)
	if !ok || !given.fixed {
		return errors.New("what is given to a function is no tuple: it is damaged")
	}
	if op == opBuild {
		return u.push(build(of, given.items))
	}
	return u.push(u.reduce(of, given.items))
}

// line reads a line.
func (u *unpickler) line() (string, error) {
	k := strings.IndexByte(string(u.in[u.at:min(len(u.in), u.at+256)]), '\n')
	if k < 0 {
		return "", errEnds
	}
	b, err := u.take(uint64(k) + 1) //nolint:gosec // not negative
	return string(b[:k]), err
}
