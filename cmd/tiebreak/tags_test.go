//go:build !mujoco

package main

// buildTags are those of this test, and so of the program that it builds.
const buildTags = ""
