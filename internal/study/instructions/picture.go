package instructions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"

	"tiebreak/internal/base/record"

	_ "image/gif"

	_ "image/jpeg"

	_ "image/png"

	"tiebreak/internal/idrl"

	_ "golang.org/x/image/webp"
)

// maxPixels is the most that a picture may have to a side.
const maxPixels = 4096

// CheckPicture returns a picture for the instructions of a session, named by its content. It
// returns an error of kind Invalid that says what to change unless b is a PNG, JPEG, GIF or
// WebP file that can be decoded, of at most record.MaxPicture bytes and 4096 pixels to a side.
func CheckPicture(b []byte) (record.Picture, error) {
	if len(b) == 0 || len(b) > record.MaxPicture {
		return record.Picture{}, idrl.Errorf(idrl.Invalid, "a picture must have 1 to %d KB; this one has %d KB", record.MaxPicture/1000, (len(b)+999)/1000)
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(b))
	types := map[string]string{"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
	switch {
	case err != nil || types[format] == "":
		return record.Picture{}, idrl.Errorf(idrl.Invalid, "this is no PNG, JPEG, GIF or WebP picture; save it as one of these")
	case size.Width < 1 || size.Height < 1 || max(size.Width, size.Height) > maxPixels:
		return record.Picture{}, idrl.Errorf(idrl.Invalid, "the picture has %d×%d pixels; the limit is %d to a side", size.Width, size.Height, maxPixels)
	}
	if _, _, err := image.Decode(bytes.NewReader(b)); err != nil {
		return record.Picture{}, idrl.Errorf(idrl.Invalid, "the picture is damaged: %v", err)
	}
	sum := sha256.Sum256(b)
	return record.Picture{ID: record.PictureID(hex.EncodeToString(sum[:8])), Type: types[format], Content: b}, nil
}
