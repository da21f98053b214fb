// Package paper writes what a publication says of a session or of an arena: a report as one HTML file that needs nothing else,
// with figures, tables and a data card, and the text of a methods section with its references. All of it follows from what the
// session says of itself and from its settings, so that the same answers give the same bytes. People are named by pseudonyms.
package paper
