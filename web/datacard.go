package web

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/idrl"
	"tiebreak/internal/study/settings"
	"tiebreak/templates"
)

// atCard is the place of the data card on the page that has it.
const atCard = "/" + dataPage + "#card"

// cardKeys are the settings that make up a data card, which are also the fields of its form.
var cardKeys = []string{"authors", "licence", "recruitment", "payment"}

// dataCard returns the data card of a session, with a form for those who may change it.
func dataCard(spec idrl.SessionSpec, change bool) (c templates.DataCard) {
	if change {
		c.Action = sessionURL(spec.ID, "card")
	}
	for _, key := range cardKeys {
		is := settings.Get(key)
		c.Fields = append(c.Fields, templates.CardField{
			Key: key, Label: is.Label, Hint: is.Words, Value: is.Text(spec), Most: strconv.FormatFloat(is.High, 'f', -1, 64), Long: is.Lines > 1,
		})
	}
	return c
}

// setCard is POST /sessions/:id/card with the fields authors, licence, recruitment and payment. A field that is missing leaves
// what is there; an empty one removes it.
func setCard(s running) echo.HandlerFunc {
	return func(c echo.Context) error {
		return s.changeAnyThen(c, atCard, func(ctx context.Context, id idrl.SessionID, who string) error {
			spec, err := s.cfg.Sessions.Spec(ctx, id)
			if err != nil {
				return err
			}
			form := c.Request().PostForm
			for _, key := range cardKeys {
				if form.Has(key) {
					text := strings.ReplaceAll(form.Get(key), "\r\n", "\n") // browsers end lines so
					if err := settings.Get(key).Set(&spec, strings.TrimSpace(text)); err != nil {
						return err
					}
				}
			}
			return s.cfg.Settings.SetCard(ctx, id, spec.Card(), who, time.Now())
		})
	}
}
