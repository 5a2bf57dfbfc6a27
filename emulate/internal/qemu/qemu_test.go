//go:build linux

package qemu

import "testing"

func TestModel(t *testing.T) {
	for _, tt := range []struct{ cpu, length, want string }{
		{"max", "", "max,sve-default-vector-length=64"},
		{"max", "2048", "max,sve-default-vector-length=256"},
		{"max", "off", "max,sve=off"},
		{"a64fx", "", "a64fx,sve-default-vector-length=64"},
		{"cortex-a76", "", "cortex-a76"},
		{"cortex-a76", "off", "cortex-a76"},
		{"cortex-a57", "", "cortex-a57"}, // a model of QEMU's
		{"max", "192", ""},
		{"a64fx", "1024", ""},
		{"a64fx", "off", ""},
		{"neoverse-n1", "128", ""},
		{"cortex-a57", "128", ""},
	} {
		got, err := model(tt.cpu, tt.length)
		if got != tt.want && err == nil || (err == nil) != (tt.want != "") {
			t.Errorf("%s %q: %q, %v, want %q", tt.cpu, tt.length, got, err, tt.want)
		}
	}
}
