package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
)

// parts splits what hwf prints into its parts' lines, by title.
func parts(out string) map[string][]string {
	m := map[string][]string{}
	title := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "  "); ok {
			m[title] = append(m[title], text)
		} else {
			title = strings.TrimSuffix(line, ":")
		}
	}
	return m
}

func TestHWF(t *testing.T) {
	got := parts(mustCall(t, "hwf"))
	features := hwfeatures.Enabled()
	for title, want := range map[string]string{
		"Detected": hwfeatures.Detected().String(),
		"Enabled":  features.String(),
	} {
		if !slices.Equal(got[title], []string{want}) {
			t.Errorf("%s: %q, want %q", title, got[title], want)
		}
	}
	if p := got["Processor"]; len(p) != 1 || !strings.HasPrefix(p[0], hwfeatures.CPU().String()) {
		t.Errorf("processor %q", p)
	}

	i := 0
	for tuning := range hwfeatures.Tunings().All() {
		f := strings.Fields(got["Tunings"][i])
		state := "off"
		if features.Has(tuning) {
			state = "on"
		}
		want := append([]string{tuning.String(), state}, strings.Fields(hwfeatures.Reason(tuning))...)
		if !slices.Equal(f, want) {
			t.Errorf("tuning %q, want %q", f, want)
		}
		i++
	}

	var want []string
	for _, p := range kernel.Primitives() {
		want = append(want, p.Name+" "+strings.Join(p.Selected(features, false), " "))
	}
	for i, line := range got["Kernels"] {
		got["Kernels"][i] = strings.Join(strings.Fields(line), " ")
	}
	if !slices.Equal(got["Kernels"], want) {
		t.Errorf("kernels %q, want %q", got["Kernels"], want)
	}
}

func TestHWFEnvironment(t *testing.T) {
	out, errs, status := program(t, nil, "hwf")
	got := parts(out)
	if status != 0 || errs != "" || got["Overrides"][0] != "none" || got["Warnings"][0] != "none" {
		t.Errorf("nothing set: status %d, stderr %q, %q", status, errs, got)
	}

	out, _, status = program(t, []string{"TWOGATHER_HWF=+intel-fast-vpgather,-bogus", "TWOGATHER_KERNEL=twofish=generic"},
		"hwf", "--disable-hwf", "intel-fast-vpgather,arm-sve")
	got = parts(out)
	wantOverrides := []string{`TWOGATHER_HWF="+intel-fast-vpgather,-bogus"`, `TWOGATHER_KERNEL="twofish=generic"`,
		"--disable-hwf arm-sve,intel-fast-vpgather"}
	if status != 0 || !slices.Equal(got["Overrides"], wantOverrides) {
		t.Errorf("status %d, overrides %q", status, got["Overrides"])
	}
	if w := got["Warnings"]; len(w) != 1 || !strings.Contains(w[0], "bogus") {
		t.Errorf("warnings %q", w)
	}
	if f := strings.Fields(got["Tunings"][0]); !slices.Equal(f, []string{"intel-fast-vpgather", "off", "--disable-hwf"}) {
		t.Errorf("tuning %q", got["Tunings"][0])
	}
	if !slices.Contains(got["Kernels"], "twofish  generic") {
		t.Errorf("kernels %q", got["Kernels"])
	}
}

// TestForced forces each primitive's last usable kernel.
func TestForced(t *testing.T) {
	for _, p := range kernel.Primitives() {
		want := ""
		for _, k := range p.Kernels {
			if hwfeatures.Detected().Has(k.Requires) {
				want = k.Name
			}
		}
		out, errs, status := program(t, []string{"TWOGATHER_KERNEL=" + p.Name + "=" + want}, "hwf")
		if status != 0 || errs != "" || !slices.ContainsFunc(parts(out)["Kernels"], func(line string) bool {
			return slices.Equal(strings.Fields(line), []string{p.Name, want})
		}) {
			t.Errorf("%s: status %d, stderr %q, kernels %q, want %s", p.Name, status, errs, parts(out)["Kernels"], want)
		}
	}
}

// A forced kernel is what cipher measures where --kernel says nothing.
func TestCipherForced(t *testing.T) {
	out, errs, status := program(t, []string{"TWOGATHER_KERNEL=twofish=generic"}, append(quick, "cipher", "--csv")...)
	if status != 0 || errs != "" || !strings.HasPrefix(out, "cipher,TWOFISH,ECB enc,generic,,") {
		t.Errorf("status %d, stdout %q, stderr %q", status, out, errs)
	}
}

// --disable-hwf and TWOGATHER_HWF agree on what goes with a feature.
func TestDisable(t *testing.T) {
	for f := range hwfeatures.Detected().All() {
		env, _, _ := program(t, []string{"TWOGATHER_HWF=-" + f.String()}, "hwf")
		option, _, status := program(t, nil, "hwf", "--disable-hwf", f.String())
		a, b := parts(env), parts(option)
		if status != 0 || !slices.Equal(a["Enabled"], b["Enabled"]) || !slices.Equal(a["Kernels"], b["Kernels"]) {
			t.Errorf("%s: the variable leaves %q, %q; the option %q, %q",
				f, a["Enabled"], a["Kernels"], b["Enabled"], b["Kernels"])
		}
	}
	all := hwfeatures.Capabilities()
	for gone, want := range map[hwfeatures.Set]hwfeatures.Set{
		hwfeatures.IntelAVX512: hwfeatures.IntelAVX512 | hwfeatures.IntelAVX512VBMI,
		hwfeatures.ARMSVE:      hwfeatures.ARMSVE | hwfeatures.ARMSVE2,
		hwfeatures.IntelBMI2:   hwfeatures.IntelBMI2,
		hwfeatures.ARMNEON: hwfeatures.ARMNEON | hwfeatures.ARMAES | hwfeatures.ARMPMULL | hwfeatures.ARMSVE |
			hwfeatures.ARMSVE2,
	} {
		if got := all &^ all.Without(gone); got != want {
			t.Errorf("with %s goes %s, want %s", gone, got, want)
		}
	}
}

func TestList(t *testing.T) {
	for i, disable := range []hwfeatures.Set{0, hwfeatures.Capabilities(), 0} {
		features := hwfeatures.Enabled().Without(disable)
		constantTime := i == 2
		args := []string{"list"}
		if disable != 0 {
			args = append(args, "--disable-hwf", commas(disable))
		}
		if constantTime {
			args = append(args, "--constant-time")
		}
		want := [][]string{{"primitive", "name", "requires", "prefers", "batch", "usable", "selected", "constant-time"}}
		for _, p := range kernel.Primitives() {
			names := p.Selected(features, constantTime)
			for _, k := range p.Kernels {
				row := []string{p.Name, k.Name, commas(k.Requires), commas(k.Prefers), strconv.Itoa(k.Batch), "no", "no", "no"}
				if features.Has(k.Requires) {
					row[5] = "yes"
				}
				if slices.Contains(names, k.Name) {
					row[6] = "yes"
				}
				if k.ConstantTime {
					row[7] = "yes"
				}
				want = append(want, row)
			}
		}
		lines := strings.Split(strings.TrimSuffix(mustCall(t, args...), "\n"), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%d lines, want %d", len(lines), len(want))
		}
		for i, line := range lines {
			if got := strings.Fields(line); !slices.Equal(got, want[i]) {
				t.Errorf("line %d is %q, want %q", i, got, want[i])
			}
		}
	}
}
