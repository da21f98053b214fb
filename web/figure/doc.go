// Package figure has the tables behind the charts of a session and of an arena, and draws them as SVG files for papers. A figure
// reads the rows of its table and nothing else, so that it cannot disagree with the CSV file of that table. The files have no
// script, no style sheet and no reference to other files, so that converters to PDF take them as they are.
package figure
