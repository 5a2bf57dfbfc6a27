package erasure

import (
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

func TestFunctions(t *testing.T) { testkit.Functions(t, primitive, kernels) }
