// Package tapetest has an environment of cameras, for tests of clips of video.
package tapetest
