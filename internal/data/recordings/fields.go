package recordings

import (
	"math"
	"strconv"
	"strings"

	"tiebreak/internal/data/foreign"
)

// A Field is a setting of an import of a data set of LeRobot. The flags of the command, the form and the API are made of it.
type Field struct {
	Name   string // of the flag: "policy-column"
	Label  string // of the field of the form
	Help   string // as of flags: `one` word is the kind of the value
	Most   int    // characters of a value
	Number bool

	set func(*LeRobotConfig, string) error
}

// Hint returns Help as a text without marks.
func (f Field) Hint() string { return strings.ReplaceAll(f.Help, "`", "") }

// Key returns the name of the field of the form and of the API.
func (f Field) Key() string { return strings.ReplaceAll(f.Name, "-", "_") }

// Set sets the value of a field, which is text of a person or a program. It returns an error of kind Invalid.
func (f Field) Set(c *LeRobotConfig, value string) error {
	if value = strings.TrimSpace(value); value == "" {
		return nil
	}
	if !foreign.IsLine(value, f.Most) {
		return refused("name", "%s: the value has more than %d characters, or characters that cannot be shown in a line", f.Name, f.Most)
	}
	return f.set(c, value)
}

// NameHelp says what the name of a set may be.
const NameHelp = "`name` of the rollouts: lower-case letters, digits and hyphens; the environment is then rollouts-NAME"

// TitleHelp says what the title of an import is.
const TitleHelp = "`name` of the environment; default: the robot of the data set"

const maxColumn = 200 // characters of the name of a column

// NameFields are the name and the title of what is imported. The command has flags of the same names for all kinds of imports.
func NameFields() []Field {
	return []Field{
		{Name: "name", Label: "Name", Help: NameHelp, Most: 64, set: setText(func(c *LeRobotConfig) *string { return &c.Name })},
		{Name: "title", Label: "Title", Help: TitleHelp, Most: foreign.MaxTitle, set: setText(func(c *LeRobotConfig) *string { return &c.Title })},
	}
}

func setText(dst func(*LeRobotConfig) *string) func(*LeRobotConfig, string) error {
	return func(c *LeRobotConfig, v string) error {
		*dst(c) = v
		return nil
	}
}

// LeRobotFields are what a researcher says of a data set of LeRobot.
func LeRobotFields() []Field {
	column := func(name, label, help string, dst func(*LeRobotConfig) *string) Field {
		return Field{Name: name, Label: label, Help: help, Most: maxColumn, set: setText(dst)}
	}
	return []Field{
		{Name: "cameras", Label: "Cameras", Help: "`names` of the cameras that are shown, separated by commas, the most important first; default: all", Most: 1000, set: setCameras},
		column("policy-column", "Policy column", "`column` of the episodes or of the data that names the policy which acted; default: each episode counts as a policy of its own", func(c *LeRobotConfig) *string { return &c.Options.Policy }),
		column("task-column", "Task column", "`column` of the task; default: what the data set says", func(c *LeRobotConfig) *string { return &c.Options.Task }),
		column("start-column", "Start column", "`column` of a seed or a scene: episodes of one task with equal values began alike", func(c *LeRobotConfig) *string { return &c.Options.Start }),
		column("success-column", "Success column", "`column` that tells whether the task was done, such as next.success: true in any frame", func(c *LeRobotConfig) *string { return &c.Options.Success }),
		column("feature-column", "Feature column", "`column` of the data with at most 64 numbers of each frame, which the reward is made of; default: the observations, standardised", func(c *LeRobotConfig) *string { return &c.Options.Features }),
		{Name: "episodes-csv", Label: "Table of episodes (CSV)", Help: "`file` with a line for each episode: the column episode_index, and any of policy, task, start and success", Most: 4096, set: setText(func(c *LeRobotConfig) *string { return &c.Options.CSV })},
		{Name: "clip-seconds", Label: "Clip length in seconds", Help: "`length` of clips in seconds, at most 60; default: 10, or the longest episode", Most: 20, Number: true, set: setClipSeconds},
	}
}

func setCameras(c *LeRobotConfig, value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name != "" {
			c.Options.Cameras = append(c.Options.Cameras, name)
		}
	}
	return nil
}

func setClipSeconds(c *LeRobotConfig, value string) error {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(v) {
		return refused("manifest", "clip-seconds: %q is no number", value)
	}
	c.ClipSeconds = v
	return c.checkSeconds()
}

// checkSeconds returns an error unless clips can be so long.
func (c *LeRobotConfig) checkSeconds() error {
	if !(c.ClipSeconds >= 0 && c.ClipSeconds <= 60) {
		return refused("manifest", "a clip of %v seconds is not possible; it may have up to 60, and %d frames", c.ClipSeconds, maxClip)
	}
	return nil
}
