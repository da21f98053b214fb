// Package video reads videos that come from elsewhere, by the programs ffmpeg and ffprobe, which run as child processes
// within limits. It never trusts what a file says of its own length.
package video
