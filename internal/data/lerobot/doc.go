// Package lerobot reads data sets of LeRobot, in the layouts v3.0 and v2.1 of its library: a folder of JSON, Parquet and
// MP4 files (docs/lerobot.md). It checks that the files agree with one another, and streams episodes: memory grows with
// the number of episodes, by some hundred bytes of each, and not with their length.
package lerobot
