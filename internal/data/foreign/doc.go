// Package foreign checks what other programs say and show: what an environment is called and how long its steps
// take, numbers of episodes, scenes, pictures, and files of a folder. Its limits are those of all ways in: a program
// that speaks to this one (outside), a folder of recordings (recordings) with labels (labels), and uploads (rollouts).
package foreign
