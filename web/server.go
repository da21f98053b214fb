package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tiebreak/static"

	"github.com/labstack/echo/v4"
)

// Server is the http.Handler of everything that Tiebreak serves.
type Server struct {
	cfg      Config
	log      *slog.Logger
	handler  http.Handler
	sockets  sockets
	refusals sampler // of lines in the log
	limits   limits
	gates    gates
	bundling sync.Mutex // held while a bundle is written
	uploads  uploads
	heavy    *heavy
	streams  places // of programs that follow answers
	waits    places // of programs that wait for answers

	pingEvery time.Duration // of a socket; tests shorten it
	drainWait time.Duration // for calls of sessions that are under way; tests shorten it

	replyWait time.Duration // for a part of a reply to be taken; tests shorten it

	streamBeat, streamFor time.Duration // of streams of answers; tests shorten them

	ctx    context.Context // of work that outlives its request: sockets; ends in Drain
	cancel context.CancelFunc
}

// New returns a server. Drain it when it is no longer needed. It panics if a
// required part is missing or an origin is malformed.
func New(cfg Config) *Server {
	if cfg.Sessions == nil || cfg.Hub == nil || cfg.Auth == nil || cfg.Clips == nil ||
		cfg.Exports == nil || cfg.Learnt == nil || cfg.Bundles == nil || cfg.People == nil || cfg.Settings == nil || cfg.Pictures == nil || cfg.Known == nil || cfg.Flags == nil || cfg.Tokens == nil || cfg.Quality == nil || cfg.Arenas == nil || cfg.Health == nil || cfg.Catalogue == nil {
		panic("web: a required part of the configuration is missing")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if cfg.Env == nil {
		cfg.Env = func(id string) (EnvChoice, bool) {
			list := cfg.Catalogue()
			i := slices.IndexFunc(list, func(e EnvChoice) bool { return e.ID == id })
			if i < 0 {
				return EnvChoice{}, false
			}
			return list[i], true
		}
	}
	cfg.SignInCommand = cmp.Or(cfg.SignInCommand, "tiebreak user link")
	s := &Server{
		cfg: cfg, log: cfg.Log, pingEvery: pingEvery, drainWait: drainWait, replyWait: replyWait, refusals: sampler{bucket: newBucket(5, 20)}, limits: newLimits(), heavy: newHeavy(),
		streams: places{all: maxStreams, own: ownStreams, errAll: errStreams, errOwn: errOwnStreams},
		waits:   places{all: maxWaits, own: ownWaits, errAll: errWaits, errOwn: errOwnWaits},
		uploads: newUploads(), streamBeat: streamBeat, streamFor: streamAtMost,
	}
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
		s.fail(c, errCrossOrigin)
	}))
	s.handler = s.observe(s.headers(s.limit(e, crossOrigin.Handler(e))))
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Addresses returns the patterns of everything that can be fetched by GET, in order.
func Addresses() []string {
	var out []string
	for _, r := range routesOf(new(Server).routes()) {
		if r.method == http.MethodGet {
			out = append(out, r.path)
		}
	}
	slices.Sort(out)
	return out
}

// APIRoutes returns method and address of everything below /api, as the OpenAPI document
// writes them, in order.
func APIRoutes() []string {
	var out []string
	for _, r := range routesOf(new(Server).routes()) {
		if strings.HasPrefix(r.path, apiPrefix) {
			path := strings.NewReplacer(":id", "{id}", ":clip", "{clip}").Replace(r.path)
			out = append(out, r.method+" "+path)
		}
	}
	slices.Sort(out)
	return out
}

// instructionsPath is the route of instructions, whose form may hold a picture.
const instructionsPath = "/sessions/:id/instructions"

// staticPath is the route of the files of the pages.
const staticPath = "/static/*"

// routes returns the table of everything that can be asked for.
func (s *Server) routes() *echo.Echo {
	e := echo.New()
	onError(e, s.fail)
	e.Use(s.note, s.recover, s.wrongHost, s.limitBody, s.queue)

	e.GET("/", s.home)
	e.GET("/healthz", s.alive)
	e.GET("/readyz", s.ready)
	e.GET(staticPath, echo.WrapHandler(static.Handler()))

	e.GET("/signin", s.signIn)
	e.POST("/signin", s.postSignIn)
	e.POST("/signout", s.signOut)
	e.GET("/join/:token", s.join)
	e.POST("/join/:token", s.postJoin)
	e.GET("/join/:token/declined", s.declined)

	e.GET(tokensPath, s.tokens)
	e.POST(tokensPath, s.postToken)
	e.POST(tokensPath+"/:token/revoke", s.revokeToken)
	e.GET(tokensPath+"/:token/revoke", s.toTokens)

	e.GET("/sessions", s.listSessions)
	e.GET("/sessions/new", s.newSession)
	e.POST("/sessions", s.createSession)
	e.GET("/arenas/new", s.newArena)
	e.GET("/arenas", s.toNewArena)
	e.POST("/arenas", s.createArena)
	e.GET("/sessions/:id", s.dashboard)
	e.GET("/sessions/:id/arena", s.arenaFile)
	e.POST("/sessions/:id/budget", s.setBudget)
	e.POST("/sessions/:id/control", s.control)
	e.POST("/sessions/:id/title", s.rename)
	e.POST("/sessions/:id/clone", s.clone)
	e.POST("/sessions/:id/training/cancel", s.cancelTraining)
	e.POST("/sessions/:id/invitations", s.invite)
	e.POST("/sessions/:id/invitations/:link/revoke", s.revokeInvitation)
	e.POST("/sessions/:id/annotators/:annotator/remove", s.removeAnnotator)
	e.POST("/sessions/:id/annotators/:annotator/answers", s.countAnnotator)
	e.POST("/sessions/:id/annotators/:annotator/withdraw", s.eraseAnnotator)
	for _, form := range []string{"budget", "control", "title", "clone", "training/cancel", "invitations", "invitations/:link/revoke", "annotators/:annotator/remove", "annotators/:annotator/answers", "annotators/:annotator/withdraw"} {
		e.GET("/sessions/:id/"+form, s.toSession)
	}
	e.GET(instructionsPath, s.editInstructions)
	e.POST(instructionsPath, s.postInstructions)
	e.GET("/sessions/:id/quality", s.quality)
	e.GET("/sessions/:id/known", s.editKnown)
	e.POST("/sessions/:id/known", s.postKnown)
	e.GET("/sessions/:id/gold", s.toSession)
	e.POST("/sessions/:id/gold", s.postGold)
	e.GET("/sessions/:id/practice", s.practice)
	e.POST("/sessions/:id/practice", s.postPractice)
	e.POST("/sessions/:id/flags", s.postFlag)
	e.GET("/sessions/:id/pictures/:picture", s.picture)
	e.GET("/sessions/:id/questions", s.questions)
	e.GET("/sessions/:id/charts", s.charts)
	e.GET("/sessions/:id/charts/:table", s.chartTable)
	e.GET("/sessions/:id/watch", s.watch)
	e.GET("/sessions/:id/conditions.csv", s.conditionsCSV)
	e.GET("/sessions/:id/export", s.export)
	e.GET("/sessions/:id/label", s.label, compressed)
	e.GET("/sessions/:id/ws", s.annotate)
	e.POST("/sessions/:id/instructions/acknowledge", s.acknowledge)
	e.GET("/sessions/:id/consent", s.consent)
	e.POST("/sessions/:id/consent", s.postConsent)
	e.GET("/sessions/:id/declined", s.declined)
	e.GET("/sessions/:id/withdraw", s.withdraw)
	e.POST("/sessions/:id/withdraw", s.postWithdraw)
	e.GET("/sessions/:id/withdrawn/:annotator/:receipt", s.withdrawn)
	e.POST("/sessions/:id/key", s.rejoinKey)
	e.POST("/sessions/:id/rejoin", s.rejoin)
	e.GET("/sessions/:id/clips/:clip", s.clip)
	e.GET("/sessions/:id/learnt/:when", s.effect)
	e.GET("/sessions/:id/answers", s.given)
	s.apiRoutes(e)
	return e
}
