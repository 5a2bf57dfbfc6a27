package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// runHWF prints what the choice of kernels rests on.
func runHWF(s *session, words []string) error {
	if len(words) > 0 {
		return usagef("hwf takes no word %q", words[0])
	}
	for _, part := range []struct {
		title string
		lines []string
	}{
		{"Processor", []string{describe(hwfeatures.CPU())}},
		{"Detected", []string{hwfeatures.Detected().String()}},
		{"Enabled", []string{s.features.String()}},
		{"Tunings", s.tunings()},
		{"Overrides", s.overrides()},
		{"Warnings", hwfeatures.Warnings()},
		{"Kernels", s.kernels()},
	} {
		if len(part.lines) == 0 {
			part.lines = []string{"none"}
		}
		fmt.Fprintf(s.out, "%s:\n  %s\n", part.title, strings.Join(part.lines, "\n  "))
	}
	return nil
}

func describe(p hwfeatures.Processor) string {
	if p.Hypervisor {
		return p.String() + ", as a hypervisor presents it"
	}
	return p.String()
}

func (s *session) tunings() (lines []string) {
	for t := range hwfeatures.Tunings().All() {
		state, reason := "off", hwfeatures.Reason(t)
		if s.features.Has(t) {
			state = "on"
		} else if hwfeatures.Enabled().Has(t) {
			reason = "--disable-hwf"
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%-21s  %-3s  %s", t, state, reason)))
	}
	return lines
}

func (s *session) overrides() (lines []string) {
	for _, name := range []string{"TWOGATHER_HWF", "TWOGATHER_KERNEL"} {
		if value, ok := os.LookupEnv(name); ok {
			lines = append(lines, fmt.Sprintf("%s=%q", name, value))
		}
	}
	if s.disable != 0 {
		lines = append(lines, "--disable-hwf "+commas(s.disable))
	}
	return lines
}

func (s *session) kernels() (lines []string) {
	for _, p := range kernel.Primitives() {
		lines = append(lines, fmt.Sprintf("%-8s %s", p.Name, strings.Join(p.Selected(s.features, s.constantTime), " ")))
	}
	return lines
}

// runList prints the kernel tables, best first.
func runList(s *session, words []string) error {
	if len(words) > 0 {
		return usagef("list takes no word %q", words[0])
	}
	if s.plan {
		return s.listPlans()
	}
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "primitive\tname\trequires\tprefers\tbatch\tusable\tselected\tconstant-time")
	for _, p := range kernel.Primitives() {
		names := p.Selected(s.features, s.constantTime)
		for _, k := range p.Kernels {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", p.Name, k.Name, commas(k.Requires), commas(k.Prefers),
				k.Batch, yesNo(s.features.Has(k.Requires)), yesNo(slices.Contains(names, k.Name)), yesNo(k.ConstantTime))
		}
	}
	return w.Flush()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
