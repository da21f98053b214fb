package web

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"tiebreak/static"

	"github.com/labstack/echo/v4"
)

// Server is the http.Handler of everything that Tiebreak serves.
type Server struct {
	cfg     Config
	log     *slog.Logger
	handler http.Handler
	sockets sockets

	pingEvery time.Duration // of a socket; tests shorten it

	ctx    context.Context // of work that outlives its request: sockets; ends in Drain
	cancel context.CancelFunc
}

// New returns a server. Drain it when it is no longer needed. It panics if a
// required part is missing or an origin is malformed.
func New(cfg Config) *Server {
	if cfg.Sessions == nil || cfg.Hub == nil || cfg.Auth == nil || cfg.Clips == nil ||
		cfg.Exports == nil || cfg.People == nil || len(values(envOptions(cfg.Catalogue))) == 0 {
		panic("web: a required part of the configuration is missing")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	s := &Server{cfg: cfg, log: cfg.Log, pingEvery: pingEvery}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	crossOrigin := http.NewCrossOriginProtection()
	for _, o := range cfg.Origins {
		if err := crossOrigin.AddTrustedOrigin(o); err != nil {
			panic("web: " + err.Error())
		}
	}
	e := s.routes()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := e.NewContext(r, w)
		s.fail(errCrossOrigin, c)
	}))
	s.handler = s.headers(crossOrigin.Handler(e))
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// routes returns the table of everything that can be asked for.
func (s *Server) routes() *echo.Echo {
	e := echo.New()
	e.HTTPErrorHandler = s.fail
	e.IPExtractor = echo.ExtractIPDirect()
	e.Use(s.recover, s.limitBody)

	e.GET("/", s.home)
	e.GET("/healthz", s.health)
	e.GET("/static/*", echo.WrapHandler(static.Handler()))

	e.GET("/signin", s.signIn)
	e.POST("/signin", s.postSignIn)
	e.POST("/signout", s.signOut)
	e.GET("/join/:token", s.join)
	e.POST("/join/:token", s.postJoin)

	e.GET("/sessions", s.listSessions)
	e.GET("/sessions/new", s.newSession)
	e.POST("/sessions", s.createSession)
	e.GET("/sessions/:id", s.dashboard)
	e.POST("/sessions/:id/invitations", s.invite)
	e.GET("/sessions/:id/watch", s.watch)
	e.GET("/sessions/:id/export", s.export)
	e.GET("/sessions/:id/label", s.label)
	e.GET("/sessions/:id/ws", s.annotate)
	e.GET("/sessions/:id/clips/:clip", s.clip)
	return e
}

// health is GET /healthz: the server is up and reads its database.
func (s *Server) health(c echo.Context) error {
	if s.sockets.draining() {
		return c.String(http.StatusServiceUnavailable, "stopping\n")
	}
	if _, err := s.cfg.Sessions.List(c.Request().Context()); err != nil {
		s.log.Error("health check failed", "err", err)
		return c.String(http.StatusServiceUnavailable, "the database does not answer\n")
	}
	return c.String(http.StatusOK, "ok\n")
}
