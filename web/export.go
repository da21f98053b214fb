package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"tiebreak/internal/base/record"
	"tiebreak/internal/data/bundle"
	"tiebreak/internal/data/episodes"
	"tiebreak/internal/data/export"
	"tiebreak/internal/idrl"
	"tiebreak/internal/people/auth"
)

// errNoFeatures refuses an export whose columns have no names: earlier versions did not record
// them, and the environment that has them is not on this server.
var errNoFeatures = idrl.Errorf(idrl.Invalid, "An earlier version made this session and did not record the names of its features, "+
	"and its environment is not on this server. Put the environment back, then export.")

// downloads are the files that researchers fetch of a session.
type downloads struct {
	*site
	bundling *sync.Mutex // held while a bundle is written
}

// export is GET /sessions/:id/export?format=jsonl|csv[&all=1][&participants=1]: the log as a
// data set, streamed; all is with the answers of annotators who are left out. With
// format=networks it is what the session has learnt, as a zip archive; with
// format=bundle[&clips=gif][&after=SEQ] it is all of the session as a data set, streamed, with
// format=lerobot[&good_share=0.5] the labels of recorded episodes by their numbers, with
// format=practice the answers to practice questions, with format=flags what annotators told
// of questions, one JSON object a line.
func (s downloads) export(c echo.Context) error {
	spec, err := s.researchersSpec(c, auth.Export)
	if err != nil {
		return err
	}
	return s.writeExport(c, spec)
}

// exportFormats returns the names of the formats that the server writes.
func exportFormats() []string {
	return append(export.Formats(), export.NetworksFormat, bundle.Format, episodes.Format, export.PracticeFormat, export.FlagsFormat)
}

// plainText is the media type under which programs may ask for JSON lines: generated clients
// know few others, and read what they do not know as nothing.
const plainText = "text/plain"

// mediaType returns the media type of a reply: another one than usual where the request asks for
// it alone.
func mediaType(c echo.Context, usual, other string) string {
	if c.Request().Header.Get(echo.HeaderAccept) == other {
		return other
	}
	return usual
}

// writeExport answers with an export, as the parameters of the address say.
func (s downloads) writeExport(c echo.Context, spec idrl.SessionSpec) (err error) {
	leave, err := s.heavyReply(c, fileWork)
	if err != nil {
		return err
	}
	defer leave()
	format := c.QueryParam("format")
	if format == "" {
		format = export.Formats()[0]
	}
	if clips := c.QueryParam("clips"); clips != "" && clips != "gif" {
		return idrl.Errorf(idrl.Invalid, "unknown clips %q; use gif, or 'tiebreak export' for others", clips)
	}
	if format == export.NetworksFormat {
		return s.exportNetworks(c, spec.ID)
	}
	if format == export.PracticeFormat {
		return s.exportPractice(c, spec.ID)
	}
	if format == export.FlagsFormat {
		return s.exportFlags(c, spec.ID)
	}
	if format == bundle.Format {
		return s.exportBundle(c, spec.ID)
	}
	if format == episodes.Format {
		return s.exportLabels(c, spec.ID)
	}
	if export.CheckFormat(format) != nil {
		return idrl.Errorf(idrl.Invalid, "unknown export format %q; use one of %s", format, strings.Join(exportFormats(), ", "))
	}
	if len(spec.Features) == 0 {
		return errNoFeatures
	}
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, mediaType(c, export.ContentType(format), echo.MIMEOctetStream))
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s.%s\"", spec.ID, format))
	rows := export.Rows(func(yield func(export.Row) error) error {
		return s.cfg.Exports.Rows(c.Request().Context(), spec.ID, yield)
	})
	if c.QueryParam("all") == "" {
		rows = export.Counting(rows)
	}
	out := c.Response()
	if c.QueryParam("participants") == "" {
		err = export.Write(out, format, spec, rows)
	} else {
		var who map[idrl.AnnotatorID]record.Participant
		if who, err = s.cfg.Exports.Participants(c.Request().Context(), spec.ID); err == nil {
			err = export.WriteWithParticipants(out, format, spec, rows, who)
		}
	}
	if err != nil && committed(c) {
		s.log.Error("export broken off", "session", spec.ID, "err", err)
		panic(http.ErrAbortHandler) // a reader must not mistake half an export for a whole one
	}
	if err != nil {
		h.Del(echo.HeaderContentDisposition)
	}
	return err
}

// exportPractice writes the answers to practice questions, which are few.
func (s downloads) exportPractice(c echo.Context, id idrl.SessionID) error {
	var b bytes.Buffer
	err := s.cfg.Known.PracticeAnswers(c.Request().Context(), id, func(p record.Practice, k record.Known) error { return export.WritePractice(&b, id, p, k) })
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s-practice.jsonl\"", id))
	return c.Blob(http.StatusOK, export.ContentType("jsonl"), b.Bytes())
}

// exportFlags writes the notes of annotators about questions.
func (s downloads) exportFlags(c echo.Context, id idrl.SessionID) error {
	list, err := s.cfg.Flags.Flags(c.Request().Context(), id)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := export.WriteFlags(&b, id, list); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"tiebreak-%s-flags.jsonl\"", id))
	return c.Blob(http.StatusOK, export.ContentType("jsonl"), b.Bytes())
}

// exportNetworks writes the reward and the policies of a session.
func (s downloads) exportNetworks(c echo.Context, id idrl.SessionID) error {
	files, err := s.cfg.Learnt.LearntFiles(c.Request().Context(), id)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("tiebreak-%s", id)
	var b bytes.Buffer // it is small
	if err := export.WriteZip(&b, name, files); err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=\"%s.zip\"", name))
	return c.Blob(http.StatusOK, "application/zip", b.Bytes())
}

// exportBundle streams all of a session as a data set.
func (s downloads) exportBundle(c echo.Context, id idrl.SessionID) error {
	opt := bundle.Options{After: c.QueryParam("after"), Clips: c.QueryParam("clips")}
	return s.archive(c, id, "bundle", func(w io.Writer) error { return s.cfg.Bundles.WriteBundle(c.Request().Context(), id, w, opt) })
}

// exportLabels streams the labels of a session about recordings.
func (s downloads) exportLabels(c echo.Context, id idrl.SessionID) error {
	share := episodes.GoodShare
	if text := c.QueryParam("good_share"); text != "" {
		var err error
		if share, err = strconv.ParseFloat(text, 64); err != nil {
			return idrl.Errorf(idrl.Invalid, "good_share must be a number, such as %g; got %.40q", episodes.GoodShare, text)
		}
	}
	if err := episodes.CheckShare(share); err != nil {
		return err
	}
	return s.archive(c, id, "labels", func(w io.Writer) error { return s.cfg.Bundles.WriteLabels(c.Request().Context(), id, w, share) })
}

// archive streams a zip archive. Only one is written at a time, because it takes processor time from annotators.
func (s downloads) archive(c echo.Context, id idrl.SessionID, what string, write func(io.Writer) error) error {
	if !s.bundling.TryLock() {
		return idrl.Errorf(idrl.Unavailable, "The bundle of a session is just being written. Try again in a minute.")
	}
	defer s.bundling.Unlock()
	err := write(&begun{c: c, name: fmt.Sprintf("tiebreak-%s-%s.zip", id, what)})
	if err != nil && committed(c) {
		s.log.Error("export broken off", "session", id, "err", err)
		panic(http.ErrAbortHandler) // as above
	}
	return err
}

// begun starts a response that is a file; its header is sent with the first bytes.
type begun struct {
	c    echo.Context
	name string
}

func (b *begun) Write(p []byte) (int, error) {
	if out := b.c.Response(); !committed(b.c) {
		out.Header().Set(echo.HeaderContentType, "application/zip")
		out.Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", b.name))
		out.WriteHeader(http.StatusOK)
	}
	return b.c.Response().Write(p)
}
