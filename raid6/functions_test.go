package raid6

import (
	"testing"

	"github.com/twogather/twogather/internal/testkit"
)

func TestFunctions(t *testing.T) { testkit.Functions(t, primitive, kernels) }
