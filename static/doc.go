// Package static holds the files that a browser fetches besides pages: style,
// scripts and the icon. They are served as they are; there is no build step.
package static
