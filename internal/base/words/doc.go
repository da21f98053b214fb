// Package words writes numbers and lists as people read them.
package words
