package web

import (
	"strings"
	"testing"

	"tiebreak/internal/session/view"
)

func TestNetworkOf(t *testing.T) {
	if networkOf(view.Status{}) != nil {
		t.Error("a session without a network tells of one")
	}
	first := networkOf(view.Status{BasedOn: 0, Network: view.Network{Used: true, Fitting: true}})
	if first.Calibration != "" || !strings.Contains(first.Use, "No network is in use yet") || !strings.Contains(first.Use, "being fitted") ||
		!strings.Contains(first.Predictions, "No answer") {
		t.Errorf("before the first network: %+v", first)
	}
	later := networkOf(view.Status{BasedOn: 23, Network: view.Network{
		Used: true, Version: 2, BasedOn: 20, Predictions: view.Predictions{Answers: 24, LogLoss: 0.584, ECE: 0.091, Right: 17. / 24},
	}})
	want := networkState{
		Use:         "Network 2 is in use. It has learnt from answers 1 to 20; later answers adjust its last layer.",
		Predictions: "Of 24 answers, each predicted before it was given, 71 % were the most probable of clip a, clip b and equal.",
		Calibration: "Log loss 0.58 nats (1.10 if all three answers were equally probable). Calibration error (ECE) 0.09.",
	}
	if *later != want {
		t.Errorf("got %+v, want %+v", *later, want)
	}
}
