package lerobot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/data/foreign"
	"tiebreak/internal/data/video"
)

const refusal = foreign.Refusal("lerobot")

// refused returns an error of kind Invalid about a data set. The code is for programs, and stays (docs/lerobot.md).
func refused(code, format string, args ...any) error { return refusal.Errorf(code, format, args...) }

// Limits of what is read.
const (
	MaxEpisodes = 10_000

	InfoName  = "meta/info.json" // which each data set has
	maxInfo   = 1 << 20          // bytes of it
	maxLines  = 256 << 20        // bytes of a file of JSON lines
	maxMeta   = 1 << 30          // bytes of one Parquet file of meta
	maxData   = 64 << 30         // bytes of one of data
	maxVideo  = 256 << 30        // bytes of one video
	maxName   = 64               // characters of the name of a policy, and of a start
	maxCamera = 60               // bytes of the name of a camera
	maxTask   = 200              // characters
	maxSeenBy = 64               // cameras of a column
	maxFPS    = 1000
	maxNumber = 1 << 40 // of an index
)

// The layouts that are read.
const (
	v30 = "v3.0"
	v21 = "v2.1"
)

// An info is meta/info.json, as far as it is used.
type info struct {
	Version   string             `json:"codebase_version"`
	Robot     string             `json:"robot_type"`
	FPS       float64            `json:"fps"`
	Episodes  int                `json:"total_episodes"`
	Frames    int                `json:"total_frames"`
	Chunk     int                `json:"chunks_size"` // episodes of a folder in v2.1
	DataPath  string             `json:"data_path"`
	VideoPath string             `json:"video_path"`
	Features  map[string]feature `json:"features"`
}

// A feature is one column of the data, or one camera.
type feature struct {
	Type  string          `json:"dtype"`
	Shape []int           `json:"shape"`
	Names json.RawMessage `json:"names"`
	Info  json.RawMessage `json:"info"`
}

// cameras returns which cameras saw what a column of numbers is made of, as docs/examples/lerobot/add_features.py writes
// it; nil where it is not said, or cannot be shown.
func (f feature) cameras() []string {
	var about struct {
		Cameras []string `json:"cameras"`
	}
	if json.Unmarshal(f.Info, &about) != nil || len(about.Cameras) > maxSeenBy {
		return nil
	}
	for _, c := range about.Cameras {
		if c == "" || !foreign.IsLine(c, maxCamera) {
			return nil
		}
	}
	return about.Cameras
}

func readInfo(b []byte) (*info, error) {
	i := &info{}
	if err := json.Unmarshal(b, i); err != nil {
		return nil, refused("info", "%s is not valid: %v", InfoName, err)
	}
	switch {
	case i.Version == "v2.0" || i.Version == "v1.6":
		return nil, refused("version", "the data set has the layout %s; %s and %s are known. The library of LeRobot converts it: python -m lerobot.datasets.v30.convert_dataset_v21_to_v30 --repo-id=NAME --root=FOLDER --push-to-hub=false converts v2.1, and its releases 0.1 to 0.3 convert older ones to that", i.Version, v30, v21)
	case i.Version != v30 && i.Version != v21:
		return nil, refused("version", "the layout %.40q is not known; %s and %s are (\"codebase_version\" in %s)", i.Version, v30, v21, InfoName)
	case !(i.FPS > 0 && i.FPS <= maxFPS):
		return nil, refused("info", "%s: \"fps\" is %v; it must be above 0, and at most %d", InfoName, i.FPS, maxFPS)
	case i.Episodes < 1:
		return nil, refused("info", "%s: there are no episodes (\"total_episodes\" is %d)", InfoName, i.Episodes)
	case i.Episodes > MaxEpisodes:
		return nil, refused("limit", "%s: there are %d episodes; at most %d are taken in. LeRobot's lerobot-edit-dataset splits a data set", InfoName, i.Episodes, MaxEpisodes)
	case i.Version == v21 && i.Chunk < 1:
		return nil, refused("info", "%s: \"chunks_size\" must be at least 1", InfoName)
	case !foreign.IsLine(i.Robot, maxTask):
		return nil, refused("name", "%s: \"robot_type\" is longer than %d characters, or cannot be shown in a line", InfoName, maxTask)
	}
	return i, nil
}

// A Summary is what meta/info.json says of a data set.
type Summary struct {
	Version, Robot   string
	FPS              float64
	Episodes, Frames int
	Cameras          []string // for people
}

// Describe reads meta/info.json of a data set and nothing else. Errors are of kind Invalid, with a code.
func Describe(root *os.Root) (s Summary, err error) {
	b, err := refusal.ReadFile(root, InfoName, maxInfo)
	if err != nil {
		return s, err
	}
	i, err := readInfo(b)
	if err != nil {
		return s, err
	}
	s = Summary{Version: i.Version, Robot: i.Robot, FPS: i.FPS, Episodes: i.Episodes, Frames: i.Frames}
	cameras, err := i.cameras(nil)
	for _, c := range cameras {
		s.Cameras = append(s.Cameras, c.Name)
	}
	return s, err
}

// A Camera is one that filmed all episodes.
type Camera struct {
	Key  string      // in the data set: "observation.images.front"
	Name string      // for people: "front"
	Size image.Point // pixels, as meta/info.json says
}

// cameras returns those that were chosen, by key or name, in that order; without a choice all, in the order of their keys.
func (i *info) cameras(chosen []string) ([]Camera, error) {
	var all []Camera
	pictures := false
	for key, f := range i.Features {
		pictures = pictures || f.Type == "image"
		if f.Type != "video" {
			continue
		}
		c := Camera{Key: key, Name: strings.TrimPrefix(strings.TrimPrefix(key, "observation."), "images."), Size: f.pixels()}
		if len(c.Name) > maxCamera || !foreign.IsLine(c.Name, maxCamera) || c.Name == "" || strings.ContainsAny(key, `/\`) {
			return nil, refused("name", "%s: the name of the camera %.80q is empty, longer than %d bytes, or cannot be part of a path", InfoName, key, maxCamera)
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Camera) int { return cmp.Compare(a.Key, b.Key) })
	switch {
	case len(all) == 0 && pictures:
		return nil, refused("cameras", "%s: the pictures are in Parquet files (\"dtype\": \"image\"); only videos are read. LeRobot's lerobot-edit-dataset --operation.type convert_image_to_video writes them as videos", InfoName)
	case len(all) == 0:
		return nil, refused("cameras", "%s: there are no videos (no feature has \"dtype\": \"video\"), so there is nothing to see", InfoName)
	}
	if len(chosen) == 0 {
		chosen = make([]string, len(all))
		for k, c := range all {
			chosen[k] = c.Key
		}
	}
	var out []Camera
	for _, name := range chosen {
		at := slices.IndexFunc(all, func(c Camera) bool { return c.Key == name || c.Name == name })
		if at < 0 || slices.Contains(out, all[at]) {
			var names []string
			for _, c := range all {
				names = append(names, c.Name)
			}
			return nil, refused("cameras", "the camera %.80q is named twice, or there is none; there are %.1000s", name, strings.Join(names, ", "))
		}
		out = append(out, all[at])
	}
	if len(out) > video.MaxCameras {
		return nil, refused("limit", "there are %d cameras; at most %d are shown beside each other: choose them, as --cameras %s,%s", len(out), video.MaxCameras, out[0].Name, out[1].Name)
	}
	return out, nil
}

// pixels returns the size of pictures of a camera; zero if the description does not say it.
func (f feature) pixels() (size image.Point) {
	var names []string
	if json.Unmarshal(f.Names, &names) != nil || len(names) != len(f.Shape) {
		names = []string{"height", "width", "channels"}
	}
	for k, n := range f.Shape {
		switch {
		case k < len(names) && names[k] == "height":
			size.Y = n
		case k < len(names) && names[k] == "width":
			size.X = n
		}
	}
	return size
}

// names returns what the n numbers of a feature are called, if all of them have names for people.
func (f feature) names(n int) []string {
	var list []string
	if json.Unmarshal(f.Names, &list) != nil {
		var groups map[string][]string // {"motors": […]}
		if json.Unmarshal(f.Names, &groups) != nil || len(groups) != 1 {
			return nil
		}
		for _, list = range groups {
		}
	}
	if len(list) != n || (foreign.World{StepSec: 1, Features: list}).Check() != nil {
		return nil
	}
	return list
}

// pathField is a field in a template of paths, as Python formats them.
var pathField = regexp.MustCompile(`\{(\w+)(?::0?(\d{1,2})d)?\}`)

// path fills in a template of info.json. It returns an error unless the result is a path within the folder.
func path(template, camera string, numbers map[string]int) (string, error) {
	var err error
	out := pathField.ReplaceAllStringFunc(template, func(field string) string {
		m := pathField.FindStringSubmatch(field)
		if m[1] == "video_key" {
			return camera
		}
		v, ok := numbers[m[1]]
		if !ok {
			err = refused("info", "%s: the path %.200q has the field %.40s, which is not known", InfoName, template, field)
		}
		wide, _ := strconv.Atoi(m[2]) // 0 without
		return fmt.Sprintf("%0*d", wide, v)
	})
	if err == nil && (!filepath.IsLocal(out) || len(out) > 1000 || strings.ContainsAny(out, "\\\x00{}")) {
		err = refused("info", "%s: %.200q is no path within the folder", InfoName, out)
	}
	return out, err
}
