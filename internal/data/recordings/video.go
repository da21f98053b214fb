package recordings

import (
	"context"
	"errors"
	"image"

	"tiebreak/internal/data/video"
)

// decodeVideo calls frame with every picture of the video at path (video.Decode). Errors about the video have a code.
func decodeVideo(ctx context.Context, path string, frame func(image.Image) error) error {
	var own error
	err := video.Decode(ctx, path, func(p image.Image) error {
		own = frame(p)
		return own
	})
	switch {
	case err == nil || own != nil:
		return err
	case errors.Is(err, video.ErrMissing):
		return refused("ffmpeg", "%v, or give the pictures as PNG files", err)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return refused("video", "%v", err)
}
