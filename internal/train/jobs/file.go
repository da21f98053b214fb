package jobs

import (
	"crypto/sha256"
	"errors"
)

// A File is a file that a job reads besides its payload, such as a recording. Processes of this machine find it where they
// were told to look; to workers elsewhere it is carried, once.
type File struct {
	Path string // relative to the folder of files of a worker; words of letters, digits, ".", "_" and "-" with "/" between
	Hash [sha256.Size]byte
	Size int64
	Read func() ([]byte, error) // returns the content
}

// A fileLink is a Link that can hand over files. They are there before frames that are written
// later arrive.
type fileLink interface {
	Hand(files []File) error
}

// hand hands over the files of a job to a worker elsewhere.
func (r *run) hand() error {
	files := r.t.job.Files
	l, elsewhere := r.w.to.(linked)
	if !elsewhere || len(files) == 0 {
		return nil
	}
	by, ok := l.Link.(fileLink)
	if !ok {
		return errors.New("files cannot be carried to it")
	}
	return by.Hand(files)
}
