package outside

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"tiebreak/internal/base/rng"
)

// The test binary is its own child: a cart on a line, or one that misbehaves.
const childVariable = "TIEBREAK_TEST_OUTSIDE"

// parentVariable has the test binary use the environment that the file describes.
const parentVariable = "TIEBREAK_TEST_PARENT"

// use waits for the environment of a description, which hangs.
func use(path string) int {
	d, err := Read(path)
	if err != nil {
		panic(err)
	}
	d.Launcher = os.Args[0]
	p, err := Load(d)
	if err != nil {
		panic(err)
	}
	p.New().Reset(rng.New(1, "env", 0))
	return 1
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == LaunchCommand {
		os.Exit(Launch(os.Args[2:]))
	}
	if path := os.Getenv(parentVariable); path != "" {
		os.Exit(use(path))
	}
	if mode := os.Getenv(childVariable); mode != "" {
		newChild(mode).serve(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A child is the other side of the protocol. Its modes are words: "scene", "picture",
// "state", "discrete" and "names" say what it can, any other how it misbehaves.
type child struct {
	mode    []string
	x, v    float64
	steps   int
	stream  *rand.Rand
	out     io.Writer
	greeted int
}

func newChild(mode string) *child { return &child{mode: strings.Fields(mode)} }

func (c *child) is(word string) bool { return slices.Contains(c.mode, word) }

// after reports whether mode has word:n with n steps made.
func (c *child) after(word string) bool {
	return slices.Contains(c.mode, fmt.Sprintf("%s:%d", word, c.steps))
}

func (c *child) serve(in io.Reader, out io.Writer) {
	c.out = out
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if c.is("stays") {
				time.Sleep(time.Hour)
			}
			return
		}
		var r struct {
			ID     int64
			Cmd    string
			Seed   uint64
			Action json.RawMessage
			State  []float64
		}
		if err := json.Unmarshal(line, &r); err != nil {
			panic(err)
		}
		if r.Cmd == "close" && c.is("stays") {
			time.Sleep(time.Hour)
		}
		result, raw := c.answer(r.Cmd, r.Seed, r.Action, r.State)
		if raw != "" {
			io.WriteString(out, strings.ReplaceAll(raw, "ID", fmt.Sprint(r.ID))+"\n")
			continue
		}
		b, err := json.Marshal(map[string]any{"id": r.ID, "result": result})
		if err != nil {
			panic(err)
		}
		out.Write(append(b, '\n'))
		if r.Cmd == "close" {
			return
		}
	}
}

func (c *child) hello() map[string]any {
	c.greeted++
	h := map[string]any{
		"protocol": 1, "name": "cart", "version": "1.0", "observation": 2, "features": []string{"place", "haste"},
		"horizon": 12, "step_seconds": 0.1, "draws": "scene", "action": map[string]any{"low": []float64{-1}, "high": []float64{1}},
	}
	if c.is("picture") {
		h["draws"] = "picture"
	}
	if c.is("state") {
		h["state"] = 3
	}
	if c.is("discrete") {
		h["action"] = map[string]any{"n": 3}
	}
	if c.is("names") {
		h["happens"] = []any{map[string]any{"happens": "leaves the line", "useless": true}, map[string]any{"happens": "gets ahead"}}
	}
	return h
}

// answer returns a result, or a raw line in which ID stands for the number of the request.
func (c *child) answer(cmd string, seed uint64, action json.RawMessage, state []float64) (result map[string]any, raw string) {
	if raw := c.mischief(cmd); raw != "" {
		return nil, raw
	}
	switch cmd {
	case "hello":
		return c.hello(), ""
	case "reset":
		c.stream = rand.New(rand.NewPCG(seed, 7))
		if c.is("restless") {
			c.stream = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 7))
		}
		c.x, c.v, c.steps = c.stream.Float64(), 0, 0
		return map[string]any{"observation": []float64{c.x, c.v}}, ""
	case "step":
		c.step(action)
		next := map[string]any{
			"observation": []float64{c.x, c.v}, "features": []float64{c.x, c.v * c.v},
			"terminated": math.Abs(c.x) > 2, "truncated": c.steps == 12,
		}
		switch {
		case !c.is("names"):
		case math.Abs(c.x) > 2:
			next["happens"] = "leaves the line"
		case c.x > 1:
			next["happens"] = "gets ahead"
		}
		return next, ""
	case "save":
		return map[string]any{"state": []float64{c.x, c.v, float64(c.steps)}}, ""
	case "restore":
		c.x, c.v, c.steps = state[0], state[1], int(state[2])
	case "draw":
		if c.is("picture") {
			return map[string]any{"picture": c.picture()}, ""
		}
		return map[string]any{"scene": c.scene()}, ""
	}
	return map[string]any{}, ""
}

func (c *child) step(action json.RawMessage) {
	push := 0.
	if c.is("discrete") {
		var k int
		if err := json.Unmarshal(action, &k); err != nil {
			panic(err)
		}
		push = float64(k - 1)
	} else {
		var a []float64
		if err := json.Unmarshal(action, &a); err != nil {
			panic(err)
		}
		push = a[0]
	}
	c.v += push / 4
	c.x += c.v
	c.steps++
}

func (c *child) scene() map[string]any {
	return map[string]any{
		"camera": map[string]any{"x": 0, "y": 0, "w": 6, "h": 3},
		"static": []any{map[string]any{"kind": "line", "paint": "mark", "size": 0.1, "points": []float64{-3, 0, 3, 0}}},
		"moving": []any{map[string]any{"kind": "circle", "paint": "agent", "size": 0.3, "points": []float64{c.x, 0.3}, "trail": true}},
	}
}

func (c *child) picture() string {
	w := 60
	if c.is("growing") {
		w += c.steps
	}
	img := image.NewRGBA(image.Rect(0, 0, w, 30))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	x := int(30 + 10*c.x)
	for k := range 6 {
		img.Set(x+k%3, 14+k/3, color.Black)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

const goodStep = `{"id":ID,"result":{"observation":[0,0],"features":[0,0],"terminated":false,"truncated":false}}`

// mischief returns what a child that misbehaves answers.
func (c *child) mischief(cmd string) string {
	first := c.mode[0]
	switch {
	case first == "dies" && cmd == "hello":
		fmt.Fprintln(os.Stderr, "no module named cart")
		os.Exit(3)
	case first == "mute" && cmd == "hello", c.after("hangs") && cmd == "step":
		time.Sleep(time.Hour)
	case c.after("dies") && cmd == "step":
		os.Exit(4)
	case c.after("dies-once") && cmd == "step":
		mark := os.Getenv("TIEBREAK_TEST_MARK")
		if _, err := os.Stat(mark); err != nil {
			os.WriteFile(mark, nil, 0o600)
			os.Exit(5)
		}
	case first == "chatter" && cmd == "reset":
		for {
			if _, err := c.out.Write(bytes.Repeat([]byte("la\n"), 1000)); err != nil {
				os.Exit(0)
			}
		}
	case first == "endless" && cmd == "reset":
		for {
			if _, err := c.out.Write(bytes.Repeat([]byte("la"), 10000)); err != nil {
				os.Exit(0)
			}
		}
	case first == "shouts" && cmd == "reset":
		os.Stderr.Write(bytes.Repeat([]byte("warning\n"), 100_000))
	case first == "family" && cmd == "reset":
		if err := exec.Command("sleep", "3600").Start(); err != nil {
			panic(err)
		}
	case first == "changes" && cmd == "hello" && os.Getenv("TIEBREAK_TEST_MARK") != "":
		return strings.Replace(string(must(json.Marshal(map[string]any{"id": -99, "result": c.hello()}))), "-99", "ID", 1)
	}
	words := map[string]string{
		"prose": "hello there", "nan": `{"id":ID,"result":{"observation":[NaN,0],"features":[0,0]}}`,
		"inf":      strings.Replace(goodStep, "[0,0]", "[1e999,0]", 1),
		"huge":     strings.Replace(goodStep, "[0,0]", "[1e300,0]", 1),
		"short":    strings.Replace(goodStep, "[0,0]", "[0]", 1),
		"extra":    strings.Replace(goodStep, `"terminated"`, `"reward":1,"terminated"`, 1),
		"features": strings.Replace(goodStep, `"features":[0,0]`, `"features":[0,0,0]`, 1),
		"text":     strings.Replace(goodStep, "[0,0]", `["0","0"]`, 1),
		"other":    strings.Replace(goodStep, "ID", "99", 1), "nobody": `{"result":{}}`, "list": `[1,2]`, "null": `null`, "neither": `{"id":ID}`,
		"sorry":   `{"id":ID,"error":{"code":"bug","message":"list index\nout of range"}}`,
		"rumour":  strings.Replace(goodStep, `"terminated"`, `"happens":"flies","terminated"`, 1),
		"verdict": strings.Replace(goodStep, `"terminated"`, `"useless":true,"terminated"`, 1),
		"cut":     strings.Replace(goodStep, `"truncated":false`, `"truncated":true`, 1),
	}
	if raw, ok := words[first]; ok && cmd == "step" {
		return raw
	}
	scenes := map[string]string{
		"paint": `"paint":"agent"/"paint":"url(x)"`, "kind": `"kind":"circle"/"kind":"script"`, "camera": `"w":6/"w":0`,
		"points": `"points":[-3,0,3,0]/"points":[-3,0,3]`, "unscened": `"scene"/"sketch"`, "words": `"size":0.3/"size":0.3,"text":"x"`,
		"crowd": `"static":[/"static":[` + strings.Repeat("0,", 3000),
	}
	if change, ok := scenes[first]; ok && cmd == "draw" {
		old, now, _ := strings.Cut(change, "/")
		b := string(must(json.Marshal(map[string]any{"id": -99, "result": map[string]any{"scene": c.scene()}})))
		if !strings.Contains(b, old) {
			panic(b)
		}
		return strings.Replace(strings.Replace(b, old, now, 1), "-99", "ID", 1)
	}
	if first == "smudge" && cmd == "draw" {
		return `{"id":ID,"result":{"picture":"aGVsbG8="}}`
	}
	return ""
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
