//go:build !purego

package hwfeatures

import (
	"os"
	"testing"
)

func TestGatherDataSampling(t *testing.T) {
	b, err := os.ReadFile("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling")
	if err != nil {
		b = nil // an old kernel, or a sandbox
	}
	if got := gatherDataSampling(); got != string(b) {
		t.Errorf("got %q, the file holds %q", got, b)
	}
}
