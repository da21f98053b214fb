// Package draw draws frames of clips as images. It draws what the page's
// modules draw.js, view.js, solid.js and bodies.js draw on a canvas, in the light
// theme; a test of cmd/tiebreak compares the two in a browser.
//
// On an image x is to the right and y down, in pixels, and a pixel's middle lies
// half a pixel from its edges.
package draw
