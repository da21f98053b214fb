package recordings

import (
	"math"
	"time"
)

// Progress says how far an import is.
type Progress struct {
	What  string        `json:"what,omitempty"` // "checking video"
	Done  int           `json:"done,omitempty"`
	Total int           `json:"total,omitempty"`
	Left  time.Duration `json:"left,omitempty"` // that the import still takes, by the time that its pieces took so far; 0: not known yet
}

// Seconds of an ordinary machine: for the table and one picture of a video, for reading a frame once, and for a file that is durable.
const (
	videoCost = 0.4
	frameCost = 9e-6
	fileCost  = 0.002
)

// Stages of an import, in order.
const (
	checkingVideos = iota
	checkingEpisodes
	keepingEpisodes
)

// stageNames are what progress is told in.
var stageNames = [3]string{"checking video", "checking episode", "keeping episode"}

// expected returns the work of an import by its stages, with so many videos to check, files to write and frames.
func expected(videos, files, frames int) [3]float64 {
	read := frameCost * float64(frames)
	return [3]float64{videoCost * float64(videos), read, read + fileCost*float64(files)}
}

// between returns how long work takes: at least, and where other programs use the machine.
func between(work [3]float64) (least, most time.Duration) {
	seconds := (work[0] + work[1] + work[2]) * float64(time.Second)
	return time.Duration(0.5 * seconds), time.Duration(2.5 * seconds)
}

// A forecast tells how long an import still takes. Work is measured in the seconds that it takes on an ordinary machine; how many times
// longer it takes on this one is measured while it is done. What was done long ago counts less: by half for every forecastHalf.
type forecast struct {
	work [3]float64 // of the stages

	stage          int       // of the last piece
	did            float64   // work of that stage
	at             time.Time // of the last piece
	taken, covered float64   // seconds, and the work that was done in them, with weights
	measured       time.Duration
}

const (
	forecastHalf  = 20 * time.Second
	forecastLeast = time.Second // for which work is measured before anything is told of it
)

// left returns how long the import takes from now on, where that work of a stage is done; 0 as long as it is not known.
func (f *forecast) left(now time.Time, stage int, did float64) time.Duration {
	if !f.at.IsZero() {
		took := now.Sub(f.at)
		work := did - f.did
		for s := f.stage; s < stage; s++ {
			work += f.work[s]
		}
		keep := math.Exp2(-took.Seconds() / forecastHalf.Seconds())
		f.taken, f.covered = keep*f.taken+took.Seconds(), keep*f.covered+work
		f.measured += took
	}
	f.at, f.stage, f.did = now, stage, did
	if f.measured < forecastLeast || f.covered <= 0 {
		return 0
	}
	todo := -did
	for _, w := range f.work[stage:] {
		todo += w
	}
	return time.Duration(f.taken / f.covered * max(0, todo) * float64(time.Second))
}
