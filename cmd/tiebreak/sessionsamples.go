package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"text/tabwriter"

	shared "tiebreak/internal/base/command"
	"tiebreak/internal/base/stats"
	"tiebreak/internal/idrl"
)

// samplesFlags are the flags of session samples; shares are in per cent.
type samplesFlags struct {
	from, to, power, level, apart, decisive, heldOut float64
}

func (f *samplesFlags) declare(fs *flag.FlagSet) {
	fs.Float64Var(&f.from, "from", 80, "accuracy to compare with, in `percent`")
	fs.Float64Var(&f.to, "to", 85, "accuracy that is to be told from it, in `percent`")
	fs.Float64Var(&f.power, "power", 90, "probability of finding the difference if it is there, in `percent`")
	fs.Float64Var(&f.level, "level", 5, "level of the two-sided test: probability of finding one that is not there, in `percent`")
	fs.Float64Var(&f.apart, "apart", 0, "share of the answers of which one reward predicts one right and the other wrong, in `percent`; 0: what it is if their mistakes are independent")
	fs.Float64Var(&f.decisive, "decisive", 100, "answers that prefer a clip, in `percent`; the others say that both are equal, or nothing")
	fs.Float64Var(&f.heldOut, "held-out", 20, "questions that are held out (the setting held_out), in `percent`")
}

func sessionSamplesCommand() command {
	return shared.With(command{
		Name: "session samples", Summary: "say how many held-out answers tell one accuracy from another", Usage: "[flags]",
		About: "Says how many answers to held-out comparisons are needed to tell the accuracy of one reward from that of another, and how many\n" +
			"answers a session has to have in all. It reads no data; plan with it before a study begins (docs/study.md, section 4).",
		Example: "tiebreak session samples --from 80 --to 85 --decisive 90 --held-out 20",
	}, (*samplesFlags).declare, func(_ context.Context, std stdio, f *samplesFlags) error {
		if err := f.check(); err != nil {
			return err
		}
		return f.print(std)
	})
}

func (f *samplesFlags) contrast() stats.Contrast {
	return stats.Contrast{From: f.from / 100, To: f.to / 100, Alpha: f.level / 100, Power: f.power / 100}
}

func (f *samplesFlags) check() error {
	for _, of := range []struct {
		name  string
		value float64
	}{{"from", f.from}, {"to", f.to}, {"power", f.power}, {"level", f.level}} {
		if !(of.value > 0 && of.value < 100) {
			return idrl.Errorf(idrl.Invalid, "--%s must be above 0 and below 100", of.name)
		}
	}
	difference := math.Abs(f.to - f.from)
	switch most := 100 * idrl.MaxHeldOut; {
	case difference < 0.1:
		return idrl.Errorf(idrl.Invalid, "--from and --to must be at least 0.1 points apart")
	case f.power <= f.level:
		return idrl.Errorf(idrl.Invalid, "--power must be above --level")
	case !(f.decisive > 0 && f.decisive <= 100):
		return idrl.Errorf(idrl.Invalid, "--decisive must be above 0 and at most 100")
	case !(f.heldOut > 0 && f.heldOut <= most):
		return idrl.Errorf(idrl.Invalid, "--held-out must be above 0 and at most %g, as a session's is", most)
	case f.apart != 0 && !(f.apart >= difference && f.apart <= 100):
		return idrl.Errorf(idrl.Invalid, "--apart must be at least the difference, %g, and at most 100", difference)
	}
	return nil
}

// print writes a row for each way of comparing.
func (f *samplesFlags) print(std stdio) error {
	c := f.contrast()
	fmt.Fprintf(std.Out, "To tell an accuracy of %g %% from one of %g %% with a probability of %g %%, by a two-sided test of level %g %%:\n", f.from, f.to, f.power, f.level)
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  what is compared\tthat prefer a clip\theld-out answers\tanswers of the session")
	row := func(what string, n, samples int) {
		held := math.Ceil(float64(n)/(f.decisive/100) - 1e-9)
		all := math.Ceil(held/(f.heldOut/100) - 1e-9)
		each := ""
		if samples > 1 {
			each = " each"
		}
		fmt.Fprintf(w, "  %s\t%d%s\t%.0f%s\t%.0f%s\n", what, n, each, held, each, all, each)
	}
	apart, why := f.apart/100, "as you say"
	if apart == 0 {
		apart, why = c.Apart(), "as when their mistakes are independent"
	}
	row(fmt.Sprintf("two rewards, by the same answers; they differ in %.1f %% of them, %s", 100*apart, why), c.Paired(apart), 1)
	row(fmt.Sprintf("one reward with a fixed %g %%", f.from), c.Fixed(), 1)
	row("two rewards, each by answers of its own", c.Separate(), 2)
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(std.Out, "Set held_out to %g, and the budget to the last column. Accuracy is the share of the answers that prefer a clip that a reward predicts.\n", f.heldOut/100)
	if f.apart == 0 {
		fmt.Fprintln(std.Out, "Rewards that were learnt from the same people often make the same mistakes; then fewer are enough: see --apart.")
	}
	return nil
}
