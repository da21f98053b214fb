package idrl

import (
	"fmt"
	"strconv"
	"strings"
)

// EpisodeName names the n-th episode of a policy, n ≥ 0. The first one has the name of the policy.
func EpisodeName(id PolicyID, n int) TrajectoryID {
	if n == 0 {
		return TrajectoryID(id)
	}
	return TrajectoryID(fmt.Sprintf("%s.%d", id, n))
}

// Episode is the inverse of EpisodeName: it returns the policy that acted, and which of its episodes t is. No name of a
// policy ends with a point and digits.
func (t TrajectoryID) Episode() (id PolicyID, n int) {
	policy, number, ok := cutLast(string(t), ".")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n <= 0 || EpisodeName(PolicyID(policy), n) != t {
		return PolicyID(t), 0
	}
	return PolicyID(policy), n
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
