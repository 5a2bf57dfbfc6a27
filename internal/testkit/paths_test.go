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
	} {
		text := "TEXT ·f(SB), $64-64\n" + strings.ReplaceAll(c.code, ";", "\n") + "\nRET\n"
		_, err := ParseAssembly(c.file, text)["f"].Walk(1<<32, 2<<32, 64, 64, 3<<32, 64, 64, 4<<32)
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.code, err, c.want)
		}
	}
}
