package bundle

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
)

// texts writes what annotators read: all versions of the instructions and the consent text.
func (b *builder) texts(ctx context.Context) error {
	var err error
	if b.told, err = b.from.Instructions(ctx); err != nil {
		return err
	}
	for _, i := range b.told {
		ext := ".txt"
		if i.Format == idrl.Markdown {
			ext = ".md"
		}
		if err := b.content(fmt.Sprintf("instructions/%d%s", i.Version, ext), []byte(i.Text)); err != nil {
			return err
		}
	}
	consents, err := b.from.Consents(ctx)
	if err != nil {
		return err
	}
	for _, c := range consents {
		if err := b.content(fmt.Sprintf("consent/%d.md", c.Version), []byte(c.Text)); err != nil {
			return err
		}
	}
	return b.from.Pictures(ctx, func(p record.Picture) error {
		_, kind, _ := strings.Cut(p.Type, "/")
		return b.content(fmt.Sprintf("instructions/%s.%s", url.PathEscape(string(p.ID)), url.PathEscape(kind)), p.Content)
	})
}

// people writes what they practised, and what they told of questions.
func (b *builder) people(ctx context.Context) error {
	if !b.part.Whole() {
		return nil
	}
	err := b.file("practice.jsonl", func(w io.Writer) error {
		return b.from.Practice(ctx, func(p record.Practice, k record.Known) error { return export.WritePractice(w, b.spec.ID, p, k) })
	})
	if err != nil {
		return err
	}
	flags, err := b.from.Flags(ctx)
	if err != nil {
		return err
	}
	return b.file("flags.jsonl", func(w io.Writer) error { return export.WriteFlags(w, b.spec.ID, flags) })
}

// cannotBe reports whether a part of a bundle cannot be made here, such as where the
// environment of the session is not available: the rest can.
func cannotBe(err error) bool {
	kind := idrl.KindOf(err)
	return err != nil && (kind == idrl.NotFound || kind == idrl.Damaged || kind == idrl.Invalid)
}
