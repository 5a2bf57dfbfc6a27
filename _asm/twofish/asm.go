package main

import (
	"go/token"
	"go/types"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An assembler builds one file. Its methods speak the paper's language: S-boxes, subkeys, the function g, the
// pseudo-Hadamard transform (PHT).
type assembler struct {
	*build.Context
	pkg      *types.Package
	decrypt  bool
	schedule reg.Register // the *schedule argument
	labels   int
	shared   map[string]operand.Mem
}

// Rounds, and where the schedule's parts lie. A test in package twofish holds the offsets together with the Go type.
const (
	rounds         = 16
	subkeysOffset  = 4096
	inputWhitening = 0
	outWhitening   = 4
	firstRoundKey  = 8
)

func newAssembler() *assembler {
	a := &assembler{Context: build.NewContext(), schedule: reg.RDI, shared: map[string]operand.Mem{}}
	// The assembly sees the schedule behind a pointer only, so an opaque type of that name will do.
	a.pkg = types.NewPackage("github.com/twogather/twogather/twofish", "twofish")
	name := types.NewTypeName(token.NoPos, a.pkg, "schedule", nil)
	types.NewNamed(name, types.NewStruct(nil, nil), nil)
	a.pkg.Scope().Insert(name)
	return a
}

// text starts a function and loads its schedule argument.
func (a *assembler) text(name, signature string, doc ...string) {
	a.Function(name)
	sig, err := gotypes.ParseSignatureInPackage(a.pkg, signature)
	if err != nil {
		panic(err)
	}
	a.Signature(sig)
	a.Pragma("noescape")
	a.Doc(doc...)
	a.labels = 0
}

// address is where a part of an argument lies.
func (a *assembler) address(c gotypes.Component) operand.Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// word is where one word of a state lives.
type word = operand.Op

// constant returns the read-only data of the given name, which fill writes where it is asked for first.
func (a *assembler) constant(name string, fill func()) operand.Mem {
	data, ok := a.shared[name]
	if !ok {
		data = a.StaticGlobal(name)
		a.DataAttributes(attr.RODATA | attr.NOPTR)
		fill()
		a.shared[name] = data
	}
	return data
}

// label returns a label that is unique within the function.
func (a *assembler) label(name string) string {
	a.labels++
	return name + string(rune('0'+a.labels/10)) + string(rune('0'+a.labels%10))
}

// sbox is the entry of S-box j (modulo 4) for the byte in index.
func (a *assembler) sbox(j int, index reg.Register) operand.Mem {
	return operand.Mem{Base: a.schedule, Index: index, Scale: 4, Disp: 1024 * (j & 3)}
}

// subkey is K[i].
func (a *assembler) subkey(i int) operand.Mem {
	return operand.Mem{Base: a.schedule, Disp: subkeysOffset + 4*i}
}

// whitening returns where the subkeys that whiten the input and the output start: decryption swaps them.
func (a *assembler) whitening() (in, out int) {
	if a.decrypt {
		return outWhitening, inputWhitening
	}
	return inputWhitening, outWhitening
}

// roundKeys walks the subkeys of the rounds, forwards or, to decrypt, backwards.
type roundKeys struct {
	a    *assembler
	base reg.Register
}

// newRoundKeys points base at the first round's keys.
func (a *assembler) newRoundKeys(base reg.Register) roundKeys {
	first := firstRoundKey
	if a.decrypt {
		first += 2 * (rounds - 1)
	}
	a.LEAQ(a.subkey(first), base)
	return roundKeys{a, base}
}

// at returns key i (0 or 1) of the round that comes ahead rounds from now.
func (k roundKeys) at(ahead, i int) operand.Mem {
	if k.a.decrypt {
		ahead = -ahead
	}
	return operand.Mem{Base: k.base, Disp: 8*ahead + 4*i}
}

// advance moves on by n rounds.
func (k roundKeys) advance(n int) {
	if k.a.decrypt {
		n = -n
	}
	k.a.ADDQ(operand.I8(8*n), k.base)
}

// direction names functions and documents them.
func (a *assembler) direction() (verb, does string) {
	if a.decrypt {
		return "decrypt", "decrypts"
	}
	return "encrypt", "encrypts"
}

// A gpr is a general register by its names: all of it, the low 32 bits and, where they have names, the two lowest bytes.
type gpr struct{ q, d, low, high reg.Register }

var (
	rax = gpr{reg.RAX, reg.EAX, reg.AL, reg.AH}
	rbx = gpr{reg.RBX, reg.EBX, reg.BL, reg.BH}
	rcx = gpr{reg.RCX, reg.ECX, reg.CL, reg.CH}
	rdx = gpr{reg.RDX, reg.EDX, reg.DL, reg.DH}
	rsi = gpr{q: reg.RSI, d: reg.ESI}
	rbp = gpr{q: reg.RBP, d: reg.EBP}
	r8  = gpr{q: reg.R8, d: reg.R8L}
	r9  = gpr{q: reg.R9, d: reg.R9L}
	r10 = gpr{q: reg.R10, d: reg.R10L}
	r11 = gpr{q: reg.R11, d: reg.R11L}
)
