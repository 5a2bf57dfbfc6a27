package main

import (
	"crypto/cipher"
	"fmt"
	"io"
	"strings"

	"github.com/twogather/twogather/hwfeatures"
	"github.com/twogather/twogather/internal/kernel"
	"github.com/twogather/twogather/twofish"
)

// A plan divides a call between kernels. At no length should it take longer than one of them alone would, by more than
// tolerance.
const (
	planBlocks = 200
	tolerance  = 0.05
	// A length that looks wrong is measured so many times before it is believed.
	planTries = 40
)

// twofishPlan compares the plan, which comes first, with each kernel that could take a whole call by itself.
func twofishPlan(constantTime bool) comparison {
	p, features := kernel.Lookup("twofish"), hwfeatures.Enabled()
	row := func(name, kernel string) library {
		newCipher := p.New(features, constantTime, kernel).(func([]byte) (*twofish.Cipher, error))
		return library{name, func(w work) runner {
			return goRunner(w, func(key []byte) cipher.Block { return must(newCipher(key)) })
		}}
	}
	c := comparison{libraries: []library{row("plan", "")}}
	for _, k := range p.Kernels {
		if features.Has(k.Requires) && (k.ConstantTime || !constantTime) {
			c.libraries = append(c.libraries, row(k.Name, k.Name))
		}
	}
	for _, mode := range []string{ecbEncrypt, ecbDecrypt, ctr, cbcDecrypt} {
		for n := 1; n <= planBlocks; n++ {
			c.works = append(c.works, work{name: mode, size: n * twofish.BlockSize})
		}
	}
	return c
}

// checkPlan prints the lengths at which the first library loses to another one, and reports whether there are none.
func checkPlan(out io.Writer, c comparison, runs int, only string) bool {
	lost, checked := 0, 0
	clock := clockGHz()
	for _, w := range c.works {
		what := fmt.Sprintf("%s %d blocks", w.name, w.size/twofish.BlockSize)
		if !strings.Contains(what, only) {
			continue
		}
		r := measure(w, c.libraries, runs)
		for try := 1; try < planTries && r.loss() > tolerance; try++ {
			r.measure(c.libraries, runs)
		}
		checked++
		if r.loss() > tolerance {
			lost++
			best := r.winner()
			fmt.Fprintf(out, "%-22s %6.0f cycles, %s alone %6.0f: %.1f%% longer\n", what,
				r.best[0]*clock, c.libraries[best].name, r.best[best]*clock, 100*r.loss())
		}
	}
	fmt.Fprintf(out, "%v: of %d lengths and modes, the plan takes more than %.0f%% longer than one kernel alone at %d\n",
		hwfeatures.CPU(), checked, 100*tolerance, lost)
	return lost == 0
}

// winner is the library, other than the first one, with the best time.
func (r *result) winner() int {
	best := 1
	for i := range r.best {
		if i > 0 && r.best[i] < r.best[best] {
			best = i
		}
	}
	return best
}

// loss is by how much longer the first library takes than the winner, as a part of the winner's time.
func (r *result) loss() float64 { return r.best[0]/r.best[r.winner()] - 1 }
