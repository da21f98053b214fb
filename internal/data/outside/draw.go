package outside

import (
	"image"
	"slices"

	"tiebreak/internal/base/drawing"
	"tiebreak/internal/data/foreign"
)

// scenic is an Env that draws scenes.
type scenic struct {
	*Env
	first *drawing.Scene // as it was drawn first; nil before
}

var _ drawing.Drawer = (*scenic)(nil)

// Draw implements drawing.Drawer. After a failure it draws the first scene again, or an empty one.
func (s *scenic) Draw(dst *drawing.Scene) {
	*dst = drawing.Scene{Camera: drawing.Camera{W: 1, H: 1}}
	if s.first != nil {
		*dst = copyScene(s.first)
	}
	s.do(func() *failure {
		var got struct {
			Scene *foreign.Scene `json:"scene"`
		}
		if f := s.link.ask(request{Cmd: "draw"}, s.p.answerLimit(), &got); f != nil {
			return f
		}
		if got.Scene == nil {
			return failf(CodeScene, "its answer to draw has no scene")
		}
		out, err := got.Scene.Read()
		if err == nil && s.first != nil {
			err = foreign.SameForm(s.first, &out)
		}
		if err != nil {
			return failf(CodeScene, "it draws what cannot be shown: %v", err)
		}
		if s.first == nil {
			first := copyScene(&out)
			s.first = &first
		}
		*dst = out
		return nil
	})
}

func copyScene(s *drawing.Scene) drawing.Scene {
	out := *s
	copyShapes := func(list []drawing.Shape) []drawing.Shape {
		list = slices.Clone(list)
		for i := range list {
			list[i].Pts = slices.Clone(list[i].Pts)
		}
		return list
	}
	out.Static, out.Moving = copyShapes(s.Static), copyShapes(s.Moving)
	return out
}

// pictured is an Env that shows itself in pictures.
type pictured struct {
	*Env
	size image.Point // of the first; zero before

	text string      // the last picture as it came: what stands still is decoded once
	last image.Image // what is shown of that picture; nil before
}

var (
	_ drawing.Pictured = (*pictured)(nil)
	_ drawing.Framed   = (*pictured)(nil)
)

// Framed implements drawing.Framed.
func (s *pictured) Framed() bool { return len(s.p.View) > 0 }

// Picture implements drawing.Pictured.
func (s *pictured) Picture() (out image.Image, err error) {
	s.do(func() *failure {
		var got struct {
			Picture string `json:"picture"`
		}
		if f := s.link.ask(request{Cmd: "draw"}, s.p.answerLimit(), &got); f != nil {
			return f
		}
		if s.last != nil && got.Picture == s.text {
			out = s.last
			return nil
		}
		if out, err = foreign.ReadPicture(got.Picture); err != nil {
			return failf(CodePicture, "it shows a picture that cannot be read: %v", err)
		}
		size := out.Bounds().Size()
		if s.size == (image.Point{}) {
			s.size = size
		}
		if size != s.size {
			return failf(CodePicture, "it shows a picture of %dx%d pixels; the first had %dx%d", size.X, size.Y, s.size.X, s.size.Y)
		}
		if out, err = s.p.View.of(out); err != nil {
			return failf(CodePicture, "%v", err)
		}
		s.text, s.last = got.Picture, out
		return nil
	})
	return out, s.Err()
}
