// Package licences lists the modules that are built into the program, with their licences.
//
// The module graph and the files of the modules enter; a text leaves, which 'tiebreak version
// --licences' prints. It stands in cmd/tiebreak/licences.txt, and the test of this package fails
// when it is not that of the present modules.
package licences
