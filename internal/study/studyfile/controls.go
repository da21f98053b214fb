package studyfile

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"tiebreak/internal/idrl"

	"go.yaml.in/yaml/v3"
)

// A lineError is an error within a setting of several lines.
type lineError struct {
	error
	line int
}

// decodeControls reads a list of mappings with the keys strategy and share. Its errors go on
// from the key of the setting.
func decodeControls(n *yaml.Node, to *idrl.Controls) error {
	*to = nil
	if n.Kind != yaml.SequenceNode {
		return errors.New("must be a list, an item for each strategy: - {strategy: uniform, share: 0.25}")
	}
	for _, item := range n.Content {
		c, err := decodeControl(item)
		if err != nil {
			return err
		}
		*to = append(*to, c)
	}
	return nil
}

func decodeControl(n *yaml.Node) (c idrl.StrategyShare, err error) {
	wrong := func(at *yaml.Node, format string, args ...any) error {
		return lineError{fmt.Errorf(format, args...), at.Line}
	}
	if n.Kind != yaml.MappingNode {
		return c, wrong(n, "has an item that is not a strategy with its share: write {strategy: uniform, share: 0.25}")
	}
	has := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if has[key.Value] {
			return c, wrong(key, "has %s twice in one item", key.Value)
		}
		has[key.Value] = true
		switch key.Value {
		case "strategy":
			if c.Strategy = value.Value; value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
				return c, wrong(value, "has a strategy that is not text")
			}
		case "share":
			number := value.Kind == yaml.ScalarNode && (value.Tag == "!!float" || value.Tag == "!!int")
			if !number || value.Decode(&c.Share) != nil || math.IsNaN(c.Share) || math.IsInf(c.Share, 0) {
				return c, wrong(value, "has a share that is not a number: %q", value.Value)
			}
		default:
			return c, wrong(key, "allows only the keys strategy and share in an item, not %q", key.Value)
		}
	}
	if !has["strategy"] || !has["share"] {
		return c, wrong(n, "has an item without strategy or share")
	}
	return c, nil
}

// encodeControls returns a list that decodeControls reads.
func encodeControls(controls idrl.Controls) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, c := range controls {
		word := func(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: c.Strategy, Style: style(c.Strategy)}
		share := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: strconv.FormatFloat(c.Share, 'g', -1, 64)}
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{word("strategy"), name, word("share"), share}})
	}
	if len(list.Content) == 0 {
		list.Style = yaml.FlowStyle
	}
	return list
}
