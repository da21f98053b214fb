package web

import (
	"fmt"
	"regexp"
	"strings"

	"tiebreak/internal/data/recordings"
)

// summaryText says what a data set has.
func summaryText(f recordings.Found) string {
	if f.Episodes == 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("%d episodes", f.Episodes), fmt.Sprintf("%g frames a second", f.FPS)}
	if len(f.Cameras) > 0 {
		parts = append(parts, "cameras "+strings.Join(f.Cameras, ", "))
	}
	if f.Robot != "" {
		parts = append(parts, "robot "+f.Robot)
	}
	return strings.Join(parts, " · ")
}

// errorCode is the code at the beginning of an error of an import (docs/lerobot.md).
var errorCode = regexp.MustCompile(`(?i)^((?:lerobot|rollouts)-[a-z]+): `)

// plainCode makes a sentence of an error, with its code at the end.
func plainCode(text string) string {
	m := errorCode.FindStringSubmatch(text)
	if m == nil {
		return sentence(text)
	}
	return sentence(text[len(m[0]):]) + " (" + strings.ToLower(m[1]) + ")"
}
