// Package waittest bounds what tests wait for.
package waittest
