package testkit

import (
	"errors"
	"strings"
	"testing"
)

// TestPathMachine shows the machine what it has to find.
func TestPathMachine(t *testing.T) {
	for _, c := range []struct {
		file, code string
		want       error
	}{
		{"a.s", "MOVQ src_base+32(FP), SI; MOVQ src_len+40(FP), CX; l:; MOVQ (SI), AX; ADDQ $8, SI; SUBQ $8, CX; JNE l", nil},
		{"a.s", "MOVQ s+0(FP), DI; MOVL (DI), AX; MOVL (DI)(AX*4), BX", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; MOVL (DI), AX; VPXOR (AX), Y0, Y0", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; VPGATHERDD Y1, (DI)(Y0*4), Y2", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; VMOVD X0, AX; MOVBLZX (DI)(AX*1), BX", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; VMOVDQU (DI), Y0; VMOVDQU Y0, 32(SP); MOVQ 40(SP), AX; MOVL (DI)(AX*1), BX", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ DI, 32(SP); LEAQ 8(SP), BX; MOVQ 24(BX), AX; VMOVDQU (AX), Y0", nil},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ DI, 32(SP); VMOVDQU Y0, 8(SP); MOVQ 32(SP), AX; VMOVDQU (AX), Y0", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; TESTB $1, (DI); JNE l; l:", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; CMPQ (DI), $1; JEQ l; l:", ErrSecret},
		{"a.s", "VPTEST Y0, Y0; JEQ l; l:", ErrSecret},
		{"a.s", "KORTESTQ K1, K1; JEQ l; l:", ErrSecret},
		{"a.s", "MOVQ chain+56(FP), BX; TESTQ BX, BX; JEQ l; MOVL 12(BX), AX; BSWAPL AX; ADDL $1, AX; MOVL AX, 8(SP); l:", nil},
		{"a.s", "MOVQ chain+56(FP), BX; MOVL 12(BX), AX; XORL AX, AX; MOVL (BX)(AX*1), CX", nil},
		{"a.s", "MOVQ s+0(FP), DI; MOVL (DI), AX; BEXTRL BX, AX, SI; MOVL (DI)(SI*4), CX", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; MOVL (DI), AX; MOVBLZX AH, SI; MOVL (DI)(SI*4), CX", ErrSecret},
		{"a.s", "ADDQ $16, src_base+32(FP); MOVQ src_base+32(FP), SI; VMOVDQU (SI), Y0", nil},
		{"a.s", "CALL AX", ErrUnknown},
		{"a.s", "RDTSC", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVOU 16(DI), X0; PSHUFB X1, X0; PXOR X0, X0; MOVOU X0, (DI)", nil},
		{"a.s", "MOVQ s+0(FP), DI; MOVOU (DI), X0; MOVQ X0, AX; MOVOU (DI)(AX*1), X1", ErrSecret},
		{"a.s", "MOVQ DI, 32(SP); MOVOU X0, 24(SP); MOVQ 32(SP), AX; MOVOU (AX), X1", ErrSecret},
		{"a.s", "PTEST X0, X0; JEQ l; l:", ErrSecret},
		{"a_arm64.s", "MOVD s+0(FP), R0; MOVD $4, R1; l:; VLD1.P 16(R0), [V0.B16]; SUB $1, R1, R1; CBNZ R1, l", nil},
		{"a_arm64.s", "MOVD s+0(FP), R0; MOVWU (R0), R1; ADD R1, R0, R2; VLD1 (R2), [V0.B16]", ErrSecret},
		{"a_arm64.s", "MOVD s+0(FP), R0; MOVD (R0), R1; CBZ R1, l; l:", ErrSecret},
		{"a_arm64.s", "MOVD s+0(FP), R0; LDP (R0), (R1, R2); CMP $1, R2; BLO l; l:", ErrSecret},
		{"a_arm64.s", "MOVD s+0(FP), R0; VMOV V0.S[0], R1; ADD R1, R0; FMOVQ (R0), F0", ErrSecret},
		{"a_arm64.s", "WORD $0x6e379fd7 // pmul v23.16b, v30.16b, v23.16b", nil},
		{"a_arm64.s", "WORD $0x38606800 // ldrb w0, [x0, x0]", ErrUnknown},
		// Flags that nobody set, and that instructions between vectors set.
		{"a.s", "JEQ l; l:", ErrSecret},
		{"a.s", "VPCMPISTRI $0, X0, X1; JCS l; l:", ErrUnknown},
		{"a_arm64.s", "CMP $0, ZR; WORD $0x1e212000 // fcmp s0, s1; BEQ l; l:", ErrUnknown},
		// Results that no operand names.
		{"a.s", "MOVQ s+0(FP), DI; MOVQ $0, AX; MOVQ (DI), CX; MULQ CX; MOVL (DI)(AX*1), BX", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ $0, AX; MOVQ (DI), DX; MULXQ DX, AX, BX; MOVL (DI)(AX*1), BX", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ $0, CX; VMOVDQU (DI), X0; VPCMPISTRI $0, X0, X1; MOVL (DI)(CX*1), BX", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ (DI), AX; PUSHQ AX", ErrUnknown},
		// Addresses that no operand shows, or not in the usual form.
		{"a.s", "MOVQ s+0(FP), DI; MOVQ (DI), AX; BTQ AX, (DI)", ErrUnknown},
		{"a.s", "VMASKMOVDQU X0, X1", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ (DI), AX; MOVL 0(AX*4), BX", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ (DI), AX; VMOVDQU 0(AX*8), Y0", ErrUnknown},
		{"a_arm64.s", "MOVD s+0(FP), R0; MOVD (R0), R1; MOVD (R0)(R1<<3), R2", ErrUnknown},
		{"a_arm64.s", "MOVD s+0(FP), R0; MOVD (R0), R1; FMOVQ (R0)(R1<<4), F0", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; KMOVQ (DI), K1; VMOVDQU8 (DI), K1, Z0", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; KMOVQ (DI), K1; VPTESTMW (DI), Z1, K1", nil},
		// Secrets by way of the frame: from masks, from elements, under another name.
		{"a.s", "MOVQ s+0(FP), DI; MOVQ DI, 32(SP); KMOVQ K1, 32(SP); MOVQ 32(SP), AX; VMOVDQU (AX), Y0", ErrSecret},
		{"a_arm64.s", "MOVD s+0(FP), R0; MOVD R0, 32(RSP); ADD $32, RSP, R1; VST1 V0.D[0], (R1); MOVD 32(RSP), R2; VLD1 (R2), [V0.B16]", ErrSecret},
		{"a_arm64.s", "MOVD s+0(FP), R0; MOVD R0, 32(RSP); ADD $32, RSP, R1; VST1 [V0.B16], (R1); MOVD 32(RSP), R2; VLD1 (R2), [V0.B16]", ErrSecret},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ DI, 56(SP); MOVOU X0, x-8(SP); MOVQ 56(SP), AX; VMOVDQU (AX), Y0", ErrUnknown},
		// Elsewhere, and two instructions in a line.
		{"a.s", "JMP ·table(SB)", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; JMP DI", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVL (DI), AX; MOVQ DI, BX\\; MOVL (DI)(AX*4), CX", ErrUnknown},
		{"a.s", "MOVQ s+0(FP), DI; MOVL (DI), AX; l: MOVL (DI)(AX*4), CX", ErrUnknown},
		{"a.s", "LOOKUP(AX, BX)", ErrUnknown},
		// A comparison with a sign, in 32 bits.
		{"a.s", "MOVL $-1, AX; CMPL AX, $0; JLT l; CALL AX; l:", nil},
		{"a.s", "MOVQ s+0(FP), DI; MOVQ $5, CX; SUBQ $6, CX; JAE l; RET; l:; MOVL (DI), AX; MOVL (DI)(AX*4), BX", nil},
		{"a.s", "MOVQ s+0(FP), DI; MOVL (DI), AX; SHLQ $1, AX, BX; MOVL (DI)(BX*4), CX", ErrSecret},
	} {
		text := "TEXT ·f(SB), $64-64\n" + strings.NewReplacer("\\;", ";", ";", "\n").Replace(c.code) + "\nRET\n"
		_, err := ParseAssembly(c.file, text)["f"].Walk(1<<32, 2<<32, 64, 64, 3<<32, 64, 64, 4<<32)
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.code, err, c.want)
		}
	}
}

// TestUnvisited has an instruction that no walk comes to, and one that only the second does.
func TestUnvisited(t *testing.T) {
	f := ParseAssembly("a.s", "TEXT ·f(SB), $0-8\nMOVQ n+0(FP), AX\nCMPQ AX, $1\nJEQ l\nADDQ $1, AX\nRET\nMOVL (BX)(AX*4), CX\nl:\nRET\n")["f"]
	for i, want := range []string{"a.s:7: MOVL (BX)(AX*4), CX a.s:9: RET", "a.s:7: MOVL (BX)(AX*4), CX"} {
		if _, err := f.Walk(uint64(i)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.Unvisited(), " "); got != want {
			t.Errorf("after %d walks: %q, want %q", i+1, got, want)
		}
	}
}
