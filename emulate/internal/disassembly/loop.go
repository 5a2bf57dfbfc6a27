//go:build linux

package disassembly

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// MainLoop returns the instructions of an assembly function's main loop, in the assembler's syntax, a line each: of the loops
// without another one inside, the one with the most. What a jump in it leaps over is left out, since it is rare there; the
// jump back at its end goes nowhere.
func MainLoop(ctx context.Context, goarch, binary, module, function string) ([]string, error) {
	dir, err := os.MkdirTemp("", "disassembly-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	a, err := newAssembler(ctx, goarch, dir)
	if err != nil {
		return nil, err
	}
	p, err := open(a, binary, module)
	if err != nil {
		return nil, err
	}
	i, ok := p.byName[function+".abi0"] // not the wrapper
	if !ok {
		return nil, fmt.Errorf("%s has no assembly function %s", binary, function)
	}
	list, err := p.decode(ctx, i)
	if err != nil {
		return nil, err
	}
	return a.mainLoop(list)
}

func (a *assembler) mainLoop(list []instruction) ([]string, error) {
	at := make(map[uint64]int)
	for i, in := range list {
		at[in.address] = i
	}
	from, to := 0, -1
	ends := -1 // of the loop before this one
	for i, in := range list {
		start, ok := at[a.goesTo(in)]
		if !ok || start > i || strings.HasPrefix(in.text, "call") {
			continue
		}
		if start > ends && i-start > to-from {
			from, to = start, i
		}
		if start <= ends || i > ends {
			ends = i
		}
	}
	if to < 0 {
		return nil, fmt.Errorf("%s has no loop", list[0].function)
	}
	var loop []string
	for i := from; i <= to; i++ {
		text := list[i].text
		if next, ok := at[a.goesTo(list[i])]; ok {
			text = a.branch.ReplaceAllString(text, "${1}.")
			if next > i && next <= to {
				i = next - 1
			}
		}
		if !padding.MatchString(text) {
			loop = append(loop, text)
		}
	}
	return loop, nil
}
