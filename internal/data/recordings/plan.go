package recordings

import (
	"fmt"
	"strings"
	"time"

	"tiebreak/internal/data/lerobot"
)

// A Plan says what an import of a data set is going to read and to write.
type Plan struct {
	*lerobot.Dataset

	Place   int64   // bytes that it will take, about
	Seconds float64 // that it will take, about, on an ordinary machine
}

// plan estimates what an import takes: 8 bytes a number, with the features, and a file for each episode; and what was measured
// on two cores for the table and one picture of a video, for reading a frame twice, and for a file that is durable.
func plan(d *lerobot.Dataset) Plan {
	return Plan{
		Dataset: d,
		Place:   8*int64(d.Frames)*int64(d.Numbers()) + 4096*int64(len(d.Episodes)),
		Seconds: 0.4*float64(len(d.Videos)) + 8e-6*float64(d.Frames) + 0.002*float64(len(d.Episodes)),
	}
}

// Lines say what an import is going to read and to write, for people.
func (p Plan) Lines() []string {
	var names []string
	for _, c := range p.Cameras {
		names = append(names, c.Name)
	}
	long := time.Duration(float64(p.Frames) / p.FPS * float64(time.Second)).Round(time.Second)
	robot := p.Robot
	if robot == "" {
		robot = "not named"
	}
	return []string{
		fmt.Sprintf("LeRobot %s: %d episodes, %d frames at %g a second (%s), robot: %s", p.Version, len(p.Episodes), p.Frames, p.FPS, long, robot),
		fmt.Sprintf("Cameras: %s; %d videos with %s, which are not copied", strings.Join(names, ", "), len(p.Videos), megabytes(p.VideoBytes())),
		fmt.Sprintf("This takes about %s, and %s of disk, and later about 0.7 MB for each clip that people see.",
			(time.Duration(max(1, p.Seconds)) * time.Second).Round(time.Second), megabytes(p.Place)),
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
