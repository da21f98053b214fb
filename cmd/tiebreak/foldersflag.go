package main

import "strings"

// foldersFlag is a flag that may be repeated, each time with a folder, or several with commas between them.
type foldersFlag []string

// String implements flag.Value.
func (f *foldersFlag) String() string { return strings.Join(*f, ",") }

// Set implements flag.Value.
func (f *foldersFlag) Set(value string) error {
	for folder := range strings.SplitSeq(value, ",") {
		if folder = strings.TrimSpace(folder); folder != "" {
			*f = append(*f, folder)
		}
	}
	return nil
}
