package jobs

import (
	"strconv"
	"strings"
)

// memoryNeed begins what a job needs that needs memory; a number of MiB follows.
const memoryNeed = "memory in MiB: "

// NeedMemory returns what a job needs that needs some MiB of memory.
func NeedMemory(mib int) string { return memoryNeed + strconv.Itoa(mib) }

// NeededMemory is the inverse of NeedMemory; ok is false for another need.
func NeededMemory(need string) (mib int64, ok bool) {
	text, ok := strings.CutPrefix(need, memoryNeed)
	if !ok {
		return 0, false
	}
	mib, err := strconv.ParseInt(text, 10, 64)
	return mib, err == nil
}
