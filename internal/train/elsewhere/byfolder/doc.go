// Package byfolder carries messages between servers and workers by files in a folder that their machines share.
package byfolder
