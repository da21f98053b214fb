package recordings

import (
	"fmt"
	"strings"
	"time"

	"tiebreak/internal/base/words"
	"tiebreak/internal/data/lerobot"
)

// A Plan says what an import of a data set is going to read and to write.
type Plan struct {
	*lerobot.Dataset

	Place       int64         // bytes that it will take, about
	Least, Most time.Duration // that it will take, by what else the machine does
}

// plan estimates what an import takes: 8 bytes a number, with the features, and a file for each episode; and the work of its stages.
func plan(d *lerobot.Dataset) Plan {
	least, most := between(expected(len(d.Videos), len(d.Episodes), d.Frames))
	return Plan{
		Dataset: d, Least: least, Most: most,
		Place: 8*int64(d.Frames)*int64(d.Numbers()) + 4096*int64(len(d.Episodes)),
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
		fmt.Sprintf("Cameras: %s; %d videos with %s, which are not copied", strings.Join(names, ", "), len(p.Videos), words.Bytes(p.VideoBytes())),
		fmt.Sprintf("This takes %s. While it runs you are told how long is left. It takes %s of disk, and later about 0.7 MB for each clip that people see.",
			p.lasts(), words.Bytes(p.Place)),
	}
}

// lasts says how long the import takes.
func (p *Plan) lasts() string {
	least, most := words.AboutTime(p.Least), words.AboutTime(p.Most)
	if least == most {
		return least
	}
	return least + " on an idle machine, and up to " + most + " on a busy one"
}
