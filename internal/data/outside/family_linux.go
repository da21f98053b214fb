package outside

import (
	"bytes"
	"os"
	"strconv"
)

// below returns the processes below this one, with the parent of each.
func below(children func(pid int) []int) map[int]int {
	out, todo := map[int]int{}, []int{os.Getpid()}
	for len(todo) > 0 {
		parent := todo[0]
		todo = todo[1:]
		for _, pid := range children(parent) {
			if _, known := out[pid]; !known {
				out[pid] = parent
				todo = append(todo, pid)
			}
		}
	}
	return out
}

// childrenOf returns the children of a process. It costs little, and may miss some while others end.
func childrenOf(pid int) (out []int) {
	path := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, _ := os.ReadDir(path) // it may have ended
	for _, t := range threads {
		b, _ := os.ReadFile(path + "/" + t.Name() + "/children")
		for _, word := range bytes.Fields(b) {
			if n, err := strconv.Atoi(string(word)); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// familyOf returns the children of every process of this system that has some.
func familyOf() map[int][]int {
	out := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if state, parent := statOf(pid); state != 'Z' && parent > 0 {
			out[parent] = append(out[parent], pid)
		}
	}
	return out
}

// statOf returns the state of a process, 'Z' if it has ended, and its parent.
func statOf(pid int) (state byte, parent int) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // behind the name, which may have spaces
	if err != nil || len(f) < 2 {
		return 'Z', 0
	}
	parent, _ = strconv.Atoi(string(f[1]))
	return f[0][0], parent
}
