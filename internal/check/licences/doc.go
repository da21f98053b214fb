// Package licences lists the modules that are built into a program, with their licences.
//
// The module graph and the files of the modules enter; a text leaves, which 'tiebreak version
// --licences' and 'tiebreak-lab version --licences' print. It stands in licences.txt in the folder of
// the program, and the test of this package fails when it is not that of the present modules.
package licences
