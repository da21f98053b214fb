package tapetest

import (
	"image"

	"tiebreak/internal/look/clip"
)

// Media types of videos.
const (
	H264 = `video/mp4; codecs="avc1.42E01E"`
	VP9  = `video/webm; codecs="vp9"`
)

// Plain is a picture in one colour.
func Plain(w, h int, grey uint8) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = grey | 255*uint8(i%4/3)
	}
	return img
}

// MP4 returns bytes that begin as a file of that kind does, and play nowhere.
func MP4(n int) []byte { return append([]byte("\x00\x00\x00\x20ftypisom"), make([]byte, n)...) }

// WebM is MP4 for files of that kind.
func WebM(n int) []byte { return append([]byte("\x1a\x45\xdf\xa3"), make([]byte, n)...) }

// Small returns an environment of two cameras whose videos play nowhere, with stills of frames 0, 3 and 4 of 7.
func Small() *Env {
	return &Env{PerStep: 2, Rate: 10, Said: "The recording ends here.", Film: &clip.Tape{
		W: 80, H: 30, Cameras: []clip.Camera{{Name: "front", W: 40, H: 30}, {Name: "wrist", X: 40, W: 40, H: 30}},
		Videos: []clip.Video{{Type: VP9, File: WebM(90)}, {Type: H264, File: MP4(70)}},
		Stills: []image.Image{Plain(80, 30, 10), Plain(80, 30, 120), Plain(80, 30, 250)}, At: []int{0, 3, 4},
	}}
}
