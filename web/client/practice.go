package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tiebreak/internal/idrl"
	"tiebreak/web/wire"
)

// Exercises are the practice questions of an annotator's page.
type Exercises struct {
	Questions []Exercise
	Examples  bool // the program chose them: no answer is right, and none is sent
}

// An Exercise is a practice question.
type Exercise struct {
	Version int64     `json:"version"`
	Clips   []string  `json:"clips"` // addresses: a then b, or one
	Left    idrl.Side `json:"left"`  // which clip to show on the left; empty for a rating
	Due     bool      `json:"-"`     // to be answered before the first question
}

// Assignment is the id of a practice question, as answers to it name it.
func (e Exercise) Assignment() string { return "practice." + strconv.FormatInt(e.Version, 10) }

// Practice returns the practice questions of the annotator, after Join.
func (c *Conn) Practice(ctx context.Context) (Exercises, error) {
	res, err := c.request(ctx, http.MethodGet, c.practiceURL(), nil)
	if err != nil {
		return Exercises{}, err
	}
	defer res.Body.Close()
	var list struct {
		Due       []int64    `json:"due"`
		Questions []Exercise `json:"questions"`
		Examples  bool       `json:"examples"`
	}
	b, err := io.ReadAll(io.LimitReader(res.Body, maxMessage))
	if err != nil {
		return Exercises{}, lost(ctx, err)
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return Exercises{}, idrl.Errorf(idrl.Internal, "the server's practice questions cannot be read: %v", err)
	}
	for i := range list.Questions {
		list.Questions[i].Due = slices.Contains(list.Due, list.Questions[i].Version)
	}
	return Exercises{Questions: list.Questions, Examples: list.Examples}, nil
}

// practiceURL is where the practice questions are.
func (c *Conn) practiceURL() *url.URL {
	at := *c.base
	at.Path = strings.TrimSuffix(at.Path, "label") + "practice"
	return &at
}

// Practise sends the answer to a practice question, which Assignment of the question names.
func (c *Conn) Practise(ctx context.Context, a *wire.Answer) error {
	return again(ctx, func() error {
		res, err := c.exchange(ctx, http.MethodPost, c.practiceURL(), "application/json", string(wire.Encode(a)))
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
}
