package film

import (
	"bufio"
	"context"
	"errors"
	"image/png"
	"io"
	"os"
	"slices"
	"strings"

	"tiebreak/internal/idrl"
)

// Formats returns the names of the formats, the default first.
func Formats() []string { return []string{"gif", "mp4", "webm", "png"} }

// CheckFormat returns an error of kind Invalid if the format is not known.
func CheckFormat(format string) error {
	if !slices.Contains(Formats(), format) {
		return idrl.Errorf(idrl.Invalid, "unknown film format %q; use one of %s", format, strings.Join(Formats(), ", "))
	}
	return nil
}

// Save writes the film to path, completely or not at all: until it is complete it has the name
// path.partial. The same film gives the same bytes as gif and png; png is a picture of its end.
// Save returns an error of kind Invalid if the format is not known or needs ffmpeg where there is
// none, and ctx's error if that ends first.
func (f *Film) Save(ctx context.Context, path, format string) (err error) {
	if err := CheckFormat(format); err != nil {
		return err
	}
	partial := path + ".partial"
	defer func() {
		if err != nil {
			_ = os.Remove(partial) // it may not be there
		}
	}()
	switch format {
	case "gif":
		err = write(partial, func(w io.Writer) error { return f.writeGIF(ctx, w) })
	case "png":
		err = write(partial, f.writePNG)
	default:
		err = f.encode(ctx, partial, codecs[format])
	}
	if err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// write creates a file with the output of to.
func write(path string, to func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	if err := to(w); err != nil {
		return errors.Join(err, file.Close())
	}
	return errors.Join(w.Flush(), file.Close())
}

// writePNG writes a picture of the film's end, which shows all of its trails.
func (f *Film) writePNG(w io.Writer) error {
	img := f.frame()
	f.Draw(img, f.Seconds())
	return png.Encode(w, img)
}
