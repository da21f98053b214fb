// Package drawtest makes clips for tests of pictures: all kinds of shapes, in
// motion.
package drawtest
