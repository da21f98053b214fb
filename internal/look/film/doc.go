// Package film makes films and pictures of clips, for use outside the page: GIF
// and PNG by itself, MP4 and WebM through the program ffmpeg.
package film
