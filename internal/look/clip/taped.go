package clip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"tiebreak/internal/idrl"
)

// Limits of clips of video. A browser gets one of the videos and the first still: with 800 KB for both, a pair of
// clips is in view within 1.5 s at 10 Mbit/s.
const (
	maxTape     = 8 << 20   // of the bytes of a clip of video; 2 MiB are enough for 10 s of two cameras in two encodings
	maxFilmSide = 1920      // of the pictures of a video
	maxVideos   = 4         // encodings
	maxCameras  = 8         //
	maxStills   = 200       //
	aimStills   = 256 << 10 // bytes of all stills together; reached by their size and the quality of JPEG
	maxName     = 60        // bytes of the name of a camera
)

// VideoFile describes a stored video.
type VideoFile struct {
	Type  string `json:"t"` // as Video.Type
	Bytes int    `json:"n"` // length of its file
}

// cutTape encodes a clip of a Taped environment.
func cutTape(env Taped, spec idrl.EnvSpec, c idrl.Clip) ([]byte, error) {
	t, sub, err := env.Tape(c.Snapshots[0], c.Steps)
	if err != nil {
		return nil, fmt.Errorf("encode clip %s: %w", c.ID, err)
	}
	if t == nil || len(t.Videos) == 0 || sub < 1 {
		return nil, idrl.Errorf(idrl.Invalid, "environment %q has no video of clip %s", spec.ID, c.ID)
	}
	happens := named(env, c.Snapshots)
	h := &Header{
		Version: 4, Env: spec.ID, Steps: c.Steps, Sub: sub, Frames: c.Steps*sub + 1, FrameSec: spec.StepSeconds / float64(sub),
		Playback: spec.Playback, EndSec: spec.EndSeconds, Phi: c.Phi, Happens: happens.Name, Useless: happens.Useless, Note: narrated(env, c.Snapshots),
		Unit: 1, Points: 1, Static: []Shape{}, Moving: []Shape{}, Film: [2]int{t.W, t.H}, Cameras: t.Cameras,
	}
	stored, err := h.addStills(t)
	if err != nil {
		return nil, fmt.Errorf("encode clip %s: %w", c.ID, err)
	}
	for _, v := range t.Videos {
		h.Videos = append(h.Videos, VideoFile{Type: v.Type, Bytes: len(v.File)})
	}
	if err := h.validate(); err != nil {
		return nil, fmt.Errorf("encode clip %s: %w", c.ID, err)
	}
	for i, v := range t.Videos {
		if err := checkVideo(v.Type, v.File); err != nil {
			return nil, fmt.Errorf("encode clip %s: video %d: %w", c.ID, i, err)
		}
		stored = append(stored, v.File)
	}
	return packFootage(h, stored)
}

// addStills stores the stills of t in the header, with the looks, and returns their files: as large and as good as fit into
// aimStills.
func (h *Header) addStills(t *Tape) ([][]byte, error) {
	if err := checkStills(t, h.Frames); err != nil {
		return nil, err
	}
	for frame, k := 0, 0; frame < h.Frames; frame++ {
		if k+1 < len(t.At) && t.At[k+1] <= frame {
			k++
		}
		h.Show = append(h.Show, k)
	}
	given := reel{}
	for _, p := range t.Stills {
		given = append(given, opaque(p))
	}
	var stored [][]byte
	for i, side := range []float64{maxStoredSide, 640, maxPictureSide, 320} {
		small := storedSize(image.Pt(t.W, t.H), len(given), side)
		shrunk := make(reel, len(given))
		for k, img := range given {
			shrunk[k] = shrink(img, small)
		}
		h.W, h.H = float64(small.X), float64(small.Y)
		for _, quality := range []int{80, 60} {
			var err error
			if stored, err = shrunk.encode(h, quality); err != nil {
				return nil, err
			}
			if total(stored) > aimStills && !(i == 3 && quality == 60) {
				continue
			}
			h.Look, err = packLooks(h.Frames, lookSize(small.X, small.Y), func(frame int) (image.Image, error) { return shrunk[h.Show[frame]], nil })
			return stored, err
		}
	}
	panic("unreachable")
}

// checkStills returns an error of kind Invalid unless t has stills of its size, in order, from frame 0 on.
func checkStills(t *Tape, frames int) error {
	if min(t.W, t.H) < minPictureSide || max(t.W, t.H) > maxFilmSide {
		return idrl.Errorf(idrl.Invalid, "a video has %dx%d pixels; a side may have %d to %d", t.W, t.H, minPictureSide, maxFilmSide)
	}
	if len(t.Stills) == 0 || len(t.Stills) != len(t.At) || len(t.Stills) > maxStills || frames > maxFrames {
		return idrl.Errorf(idrl.Invalid, "a video of %d frames has %d stills of %d frames; it needs as many as frames, 1 to %d, and has at most %d frames", frames, len(t.Stills), len(t.At), maxStills, maxFrames)
	}
	for i, p := range t.Stills {
		if got := p.Bounds().Size(); got != image.Pt(t.W, t.H) {
			return idrl.Errorf(idrl.Invalid, "still %d has %dx%d pixels; the video has %dx%d", i, got.X, got.Y, t.W, t.H)
		}
		if t.At[0] != 0 || t.At[i] >= frames || i > 0 && t.At[i] <= t.At[i-1] {
			return idrl.Errorf(idrl.Invalid, "stills are of the frames %v; the first must be 0, and the others follow in order, before frame %d", t.At, frames)
		}
	}
	return nil
}

// videoType matches the media types of videos that pages may play: a container that browsers read, with one codec.
var videoType = regexp.MustCompile(`^video/(mp4|webm); codecs="([A-Za-z0-9]{3,5})(\.[A-Za-z0-9.]{1,40})?"$`)

// validateTape returns an error of kind Invalid if the videos and cameras of h do not fit the rest. Clips of other versions
// have none.
func (h *Header) validateTape() error {
	if h.Version != 4 {
		if len(h.Videos)+len(h.Cameras) != 0 || h.Film != [2]int{} {
			return idrl.Errorf(idrl.Invalid, "clip of version %d has videos", h.Version)
		}
		return nil
	}
	w, l := h.Film[0], h.Film[1]
	switch {
	case min(w, l) < minPictureSide || max(w, l) > maxFilmSide:
		return idrl.Errorf(idrl.Invalid, "clip has videos of %dx%d pixels; a side has %d to %d", w, l, minPictureSide, maxFilmSide)
	case len(h.Videos) > maxVideos: // none where ForBrowser found none
		return idrl.Errorf(idrl.Invalid, "clip has %d videos; the limit is %d", len(h.Videos), maxVideos)
	case len(h.Cameras) < 1 || len(h.Cameras) > maxCameras:
		return idrl.Errorf(idrl.Invalid, "clip has %d cameras; it has 1 to %d", len(h.Cameras), maxCameras)
	case len(h.Pictures) > maxStills:
		return idrl.Errorf(idrl.Invalid, "clip has %d stills; the limit is %d", len(h.Pictures), maxStills)
	}
	for _, c := range h.Cameras {
		if min(c.X, c.Y) < 0 || min(c.W, c.H) < minPictureSide || c.X > w || c.Y > l || c.W > w-c.X || c.H > l-c.Y {
			return idrl.Errorf(idrl.Invalid, "clip has a camera at %d, %d of %dx%d pixels in a video of %dx%d", c.X, c.Y, c.W, c.H, w, l)
		}
		if len(c.Name) > maxName || !utf8.ValidString(c.Name) {
			return idrl.Errorf(idrl.Invalid, "clip has a camera with a name of %d bytes, or that is not UTF-8; the limit is %d", len(c.Name), maxName)
		}
	}
	for _, v := range h.Videos {
		if v.Bytes < 1 || v.Bytes > maxTape || !videoType.MatchString(v.Type) {
			return idrl.Errorf(idrl.Invalid, `clip has a video of %d bytes and type %.80q; types are as video/mp4; codecs="avc1.42E01E"`, v.Bytes, v.Type)
		}
	}
	return nil
}

// checkVideo returns an error of kind Invalid unless a file begins as its media type says.
func checkVideo(mediaType string, file []byte) error {
	mp4 := len(file) > 8 && string(file[4:8]) == "ftyp"
	webm := bytes.HasPrefix(file, []byte("\x1a\x45\xdf\xa3"))
	if strings.HasPrefix(mediaType, "video/mp4") && !mp4 || strings.HasPrefix(mediaType, "video/webm") && !webm {
		return idrl.Errorf(idrl.Invalid, "clip has a video that is not %s", mediaType)
	}
	return nil
}

// family returns the name of a codec by which browsers and ForBrowser speak of it: avc1, vp09, av01 and others.
func family(mediaType string) string {
	m := videoType.FindStringSubmatch(mediaType)
	if m == nil {
		return ""
	}
	if m[2] == "vp9" {
		return "vp09"
	}
	return m[2]
}

// ForBrowser returns what of an encoded clip a browser needs that plays some codecs, named as avc1, vp09 or av01: of a
// clip of video, the first video that it plays, and the first still, which is shown until the video is there. If it plays
// none, or plays is empty, it needs all stills and no video. used is the codec of the video, empty without one. Other
// clips, and other bytes, are returned as they are.
func ForBrowser(media []byte, plays []string) (out []byte, used string) {
	rest, ok := bytes.CutPrefix(media, []byte(footageMagic))
	if !ok {
		return media, ""
	}
	h, rest, err := readHeader(rest)
	if err != nil || h.Version != 4 {
		return media, ""
	}
	keep := slices.IndexFunc(h.Videos, func(v VideoFile) bool { return slices.Contains(plays, family(v.Type)) })
	stored, err := h.split(rest)
	if err != nil {
		return media, ""
	}
	stills, videos := stored[:len(h.Pictures)], h.Videos
	h.Videos, h.Look = nil, nil
	if keep >= 0 {
		used = family(videos[keep].Type)
		stills = append(stills[:1:1], stored[len(h.Pictures)+keep])
		h.Videos, h.Pictures, h.Show = videos[keep:keep+1], h.Pictures[:1], make([]int, len(h.Show))
	}
	out, err = packFootage(h, stills)
	if err != nil {
		return media, ""
	}
	return out, used
}

// split cuts what stands behind the header into the files of pictures and of videos.
func (h *Header) split(rest []byte) ([][]byte, error) {
	var out [][]byte
	cut := func(what string, i, n int) error {
		if n < 0 || n > len(rest) {
			return idrl.Errorf(idrl.Invalid, "clip ends within %s %d", what, i)
		}
		out, rest = append(out, rest[:n:n]), rest[n:]
		return nil
	}
	for i, p := range h.Pictures {
		if err := cut("picture", i, p.Bytes); err != nil {
			return nil, err
		}
	}
	for i, v := range h.Videos {
		if err := cut("video", i, v.Bytes); err != nil {
			return nil, err
		}
	}
	if len(rest) != 0 {
		return nil, idrl.Errorf(idrl.Invalid, "clip has %d bytes behind its pictures and videos", len(rest))
	}
	return out, nil
}

// readHeader reads the header of a clip of pictures or video, and returns what stands behind it. It checks nothing but the
// length.
func readHeader(b []byte) (*Header, []byte, error) {
	if len(b) < 4 {
		return nil, nil, idrl.Errorf(idrl.Invalid, "clip ends before its header")
	}
	n := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24
	if b = b[4:]; n > uint64(len(b)) {
		return nil, nil, idrl.Errorf(idrl.Invalid, "clip ends within its header")
	}
	h := &Header{}
	if err := json.Unmarshal(b[:n], h); err != nil {
		return nil, nil, idrl.Errorf(idrl.Invalid, "clip has a header that cannot be read: %v", err)
	}
	return h, b[n:], nil
}
