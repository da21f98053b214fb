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

// A Server serves pages, sockets and the HTTP API. Each of its parts has the handlers of one subject.
type Server struct {
	*site
	handler http.Handler
	gates   gates

	entry     entry
	labelling labelling
	watching  watching
	running   running
	launching launching
	accounts  accounts
	downloads downloads
	api       *api
}

// A site has what all parts of a server share: the configuration, the log, open sockets and the
// limits of requests. Its methods find out who sends a request, and write error pages.
type site struct {
	cfg      Config
	log      *slog.Logger
	sockets  sockets
	refusals sampler // of lines in the log
	guesses  sampler // of rows about wrong passwords
	limits   limits
	heavy    *heavy
	lacks    lacks
	counts   *Counts

	pingEvery time.Duration // of a socket; tests shorten it
	writeWait time.Duration // for a message of a socket; tests shorten it
	drainWait time.Duration // for running calls of sessions; tests shorten it
	replyWait time.Duration // to send a part of a reply; tests shorten it

	ctx    context.Context // of work that outlives its request: sockets; ends in Drain
	cancel context.CancelFunc
}

// Parts of a server.
type (
	entry     struct{ *site } // for signing in: sign-in links, invitations, crowd platforms
	labelling struct{ *site } // for annotators
	watching  struct{ *site } // for researchers who look at sessions
	running   struct{ *site } // for researchers who change sessions
	launching struct{ *site } // for researchers who make sessions
	accounts  struct{ *site } // for accounts, and their rights in sessions
)

// New returns a server. Call Drain when it is no longer needed. It panics if a required part is
// missing or an origin is malformed.
func New(cfg Config) *Server {
	if cfg.Sessions == nil || cfg.Hub == nil || cfg.Auth == nil || cfg.Clips == nil ||
		cfg.Exports == nil || cfg.Learnt == nil || cfg.Bundles == nil || cfg.People == nil || cfg.Accounts == nil || cfg.Settings == nil || cfg.Pictures == nil || cfg.Known == nil || cfg.Flags == nil || cfg.Tokens == nil || cfg.Quality == nil || cfg.Arenas == nil || cfg.Health == nil || cfg.Catalogue == nil {
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
	cfg.Program = cmp.Or(cfg.Program, "tiebreak")
	cfg.SignInCommand = cmp.Or(cfg.SignInCommand, "tiebreak user link")
	s := newServer(&site{
		cfg: cfg, log: cfg.Log, counts: newCounts(), pingEvery: pingEvery, writeWait: writeWait, drainWait: drainWait, replyWait: replyWait, refusals: sampler{bucket: newBucket(5, 20)}, guesses: sampler{bucket: newBucket(1.0/60, 100)}, limits: newLimits(), heavy: newHeavy(),
	})
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

func newServer(s *site) *Server {
	files := downloads{site: s, bundling: new(sync.Mutex)}
	return &Server{site: s, entry: entry{s}, labelling: labelling{s}, watching: watching{s}, running: running{s}, launching: launching{s}, accounts: accounts{s}, downloads: files, api: newAPI(s, files)}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Addresses returns the patterns of everything that can be fetched by GET, in order.
func Addresses() []string {
	var out []string
	for _, r := range routesOf(newServer(new(site)).routes()) {
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
	for _, r := range routesOf(newServer(new(site)).routes()) {
		if strings.HasPrefix(r.path, apiPrefix) {
			path := strings.NewReplacer(":id", "{id}", ":clip", "{clip}", ":name", "{name}").Replace(r.path)
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

// routes returns the table of all routes.
func (s *Server) routes() *echo.Echo {
	e := echo.New()
	onError(e, s.fail)
	e.Use(s.note, s.recover, s.wrongHost, s.limitBody, s.queue)

	e.GET("/", s.home)
	e.GET("/healthz", s.alive)
	e.GET("/readyz", s.ready)
	e.GET(staticPath, echo.WrapHandler(static.Handler()))

	e.GET("/signin", s.entry.signIn)
	e.POST("/signin", s.entry.postSignIn)
	e.POST("/signout", s.entry.signOut)
	e.GET("/join/:token", s.entry.join)
	e.POST("/join/:token", s.entry.postJoin)
	e.GET("/join/:token/example", s.entry.joinExample)
	e.GET("/join/:token/declined", s.labelling.declined)

	e.GET(tokensPath, s.running.tokens)
	e.POST(tokensPath, s.running.postToken)
	e.POST(tokensPath+"/:token/revoke", s.running.revokeToken)
	e.GET(tokensPath+"/:token/revoke", s.running.toTokens)

	e.GET(accountPath, s.accounts.account)
	e.POST(accountPath, s.accounts.postAccount)
	e.GET(usersPath, s.accounts.users)
	e.POST(usersPath, s.accounts.postUser)

	e.GET("/sessions", s.watching.listSessions)
	e.GET(comparePath, comparing{s.site}.compareSessions)
	e.GET(comparePath+"/:file", comparing{s.site}.compareFile)
	e.GET("/sessions/new", s.launching.newSession)
	e.POST("/sessions", s.launching.createSession)
	e.GET(rehearsalsPath+"/:name", s.launching.rehearsal)
	e.POST(rehearsalsPath+"/:name", s.launching.changeRehearsal)
	e.GET(recordingsPath, importing{s.site}.recordings)
	e.POST(recordingsPath, importing{s.site}.postRecordings)
	e.POST(receivePath, importing{s.site}.receive)
	e.GET(presetsPath, s.launching.toNewSession)
	e.POST(presetsPath, s.launching.importPreset)
	e.GET(presetsPath+"/delete", s.launching.toNewSession)
	e.POST(presetsPath+"/delete", s.launching.deletePreset)
	e.GET("/environments/:env/clips/:n", s.launching.envClip)
	e.GET(workersPath, s.watching.workers)
	e.POST(workersPath, s.watching.postWorker)
	e.GET(beforePath, s.watching.before)
	e.GET(auditPath, s.watching.audit)
	e.GET(auditPath+"/:format", s.watching.auditFile)
	e.GET("/arenas/new", s.watching.newArena)
	e.GET("/arenas", s.watching.toNewArena)
	e.POST("/arenas", s.watching.createArena)
	s.sessionRoutes(e)
	s.api.apiRoutes(e)
	return e
}

// sessionRoutes are those of one session.
func (s *Server) sessionRoutes(e *echo.Echo) {
	for _, p := range sessionPages {
		e.GET("/sessions/:id"+below(p.page), s.watching.dashboard(p.page))
	}
	e.GET("/sessions/:id/arena", s.watching.arenaFile)
	e.POST("/sessions/:id/budget", s.running.setBudget)
	e.POST("/sessions/:id/control", s.running.control)
	e.POST("/sessions/:id/title", s.running.rename)
	e.POST("/sessions/:id/tags", setTags(s.running))
	e.POST("/sessions/:id/card", setCard(s.running))
	e.POST("/sessions/:id/clone", s.running.clone)
	e.POST("/sessions/:id/training/cancel", s.watching.cancelTraining)
	e.POST("/sessions/:id/invitations", s.running.invite)
	e.POST("/sessions/:id/invitations/:link/revoke", s.running.revokeInvitation)
	e.POST("/sessions/:id/annotators/:annotator/remove", s.running.removeAnnotator)
	e.POST("/sessions/:id/annotators/:annotator/answers", s.running.countAnnotator)
	e.POST("/sessions/:id/annotators/:annotator/withdraw", s.running.eraseAnnotator)
	for _, form := range []string{"budget", "control", "title", "tags", "card", "clone", "training/cancel", "invitations", "invitations/:link/revoke", "annotators/:annotator/remove", "annotators/:annotator/answers", "annotators/:annotator/withdraw"} {
		e.GET("/sessions/:id/"+form, s.running.toSession)
	}
	e.GET(instructionsPath, s.running.editInstructions)
	e.POST(instructionsPath, s.running.postInstructions)
	e.GET("/sessions/:id/sharing", s.accounts.sharing)
	e.POST("/sessions/:id/sharing", s.accounts.share)
	e.GET("/sessions/:id/quality", s.watching.quality)
	e.GET("/sessions/:id/known", s.running.editKnown)
	e.POST("/sessions/:id/known", s.running.postKnown)
	e.GET("/sessions/:id/gold", s.running.toSession)
	e.POST("/sessions/:id/gold", s.running.postGold)
	e.GET("/sessions/:id/practice", s.labelling.practice)
	e.POST("/sessions/:id/practice", s.labelling.postPractice)
	e.POST("/sessions/:id/flags", s.labelling.postFlag)
	e.GET("/sessions/:id/pictures/:picture", s.running.picture)
	e.GET("/sessions/:id/questions", s.watching.questions)
	e.GET("/sessions/:id/report", s.watching.report)
	e.GET("/sessions/:id/charts", s.watching.charts)
	e.GET("/sessions/:id/charts/:table", s.watching.chartTable)
	e.GET("/sessions/:id/watch", s.watching.watch)
	e.GET("/sessions/:id/conditions.csv", s.watching.conditionsCSV)
	e.GET("/sessions/:id/export", s.downloads.export)
	e.GET("/sessions/:id/label", s.labelling.label, compressed)
	e.GET("/sessions/:id/ws", s.labelling.annotate)
	e.POST("/sessions/:id/instructions/acknowledge", s.labelling.acknowledge)
	e.GET("/sessions/:id/consent", s.labelling.consent)
	e.POST("/sessions/:id/consent", s.labelling.postConsent)
	e.GET("/sessions/:id/declined", s.labelling.declined)
	e.GET("/sessions/:id/withdraw", s.labelling.withdraw)
	e.POST("/sessions/:id/withdraw", s.labelling.postWithdraw)
	e.GET("/sessions/:id/withdrawn/:annotator/:receipt", s.labelling.withdrawn)
	e.POST("/sessions/:id/key", s.labelling.rejoinKey)
	e.POST("/sessions/:id/rejoin", s.labelling.rejoin)
	e.GET("/sessions/:id/clips/:clip", s.labelling.clip)
	e.GET("/sessions/:id/learnt/:when", s.labelling.effect)
	e.GET("/sessions/:id/answers", s.labelling.given)
	e.GET("/sessions/:id/telling", s.labelling.telling)
}
