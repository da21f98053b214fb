// Package studyfile reads and writes the settings of a session as a YAML file.
package studyfile
