package clip

import "image"

// A Tape has the videos of the cameras of a clip, beside each other in one video, so that all of them
// play in step.
type Tape struct {
	W, H    int           // pixels of the video and of Stills
	Cameras []Camera      // at least one, the most important first
	Videos  []Video       // the same frames in several encodings, the best one first
	Stills  []image.Image // of the frames At, for browsers that play none of Videos, for film strips and for measures
	At      []int         // increasing; the first is 0
}

// A Camera is the part of the pictures of a Tape that one camera filmed, in pixels.
type Camera struct {
	Name string `json:"name"` // for people; may be empty
	X    int    `json:"x"`
	Y    int    `json:"y"`
	W    int    `json:"w"`
	H    int    `json:"h"`
}

// A Video is the file of a video without sound, MP4 or WebM. Its frame i is shown from i·dt to (i+1)·dt, where dt is
// EnvSpec.StepSeconds/perStep.
type Video struct {
	Type string // media type with its codecs, as "video/mp4; codecs=\"avc1.42E01E\""
	File []byte
}

// A Taped environment plays recordings of cameras.
type Taped interface {
	// Tape returns what was filmed from a state on, for a number of steps: steps·perStep + 1 frames.
	Tape(snapshot []float64, steps int) (t *Tape, perStep int, err error)
}
