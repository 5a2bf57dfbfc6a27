package hwfeatures

import "strings"

// CPUID bits, by leaf and register.
const (
	leaf1ecxPCLMUL     = 1 << 1
	leaf1ecxSSSE3      = 1 << 9
	leaf1ecxOSXSAVE    = 1 << 27
	leaf1ecxAVX        = 1 << 28
	leaf1ecxHypervisor = 1 << 31

	leaf7ebxBMI1     = 1 << 3
	leaf7ebxAVX2     = 1 << 5
	leaf7ebxBMI2     = 1 << 8
	leaf7ebxAVX512F  = 1 << 16
	leaf7ebxAVX512DQ = 1 << 17
	leaf7ebxAVX512CD = 1 << 28
	leaf7ebxAVX512BW = 1 << 30
	leaf7ebxAVX512VL = 1 << 31

	leaf7ecxVBMI    = 1 << 1
	leaf7ecxGFNI    = 1 << 8
	leaf7ecxVAES    = 1 << 9
	leaf7ecxVPCLMUL = 1 << 10
)

// XCR0 bits: the register state that the operating system keeps for each thread.
const (
	xcr0AVX    = 1<<1 | 1<<2                  // XMM, upper halves of YMM
	xcr0AVX512 = xcr0AVX | 1<<5 | 1<<6 | 1<<7 // opmasks, upper halves of ZMM0-15, ZMM16-31
)

// decodeX86 derives capabilities and identity, but for the brand, from a processor's raw answers. It asks only for leaves
// that the processor says it has, and reads XCR0 only where CPUID announces OSXSAVE, since xgetbv faults elsewhere.
//
// A capability needs the processor's word and the operating system's. BMI works on general registers and needs
// no state in XCR0. macOS enables the AVX-512 state of a thread when the thread first uses it, so XCR0 does not
// show it here: Macs go without AVX-512, which is slower and safe.
func decodeX86(cpuid func(leaf, sub uint32) (a, b, c, d uint32), xgetbv func() uint64) (Set, Processor) {
	var s Set
	var p Processor

	// A processor answers a leaf beyond its last one with those of another, so the limit comes first.
	last, b, c, d := cpuid(0, 0)
	p.Vendor = text(b, d, c)
	if last < 1 {
		return 0, p
	}

	signature, _, c1, _ := cpuid(1, 0)
	p.Family, p.Model, p.Stepping = decodeSignature(signature)
	p.Hypervisor = has(c1, leaf1ecxHypervisor)

	if has(c1, leaf1ecxSSSE3) {
		s |= IntelSSSE3
	}
	if has(c1, leaf1ecxPCLMUL) {
		s |= IntelPCLMUL
	}
	if last < 7 {
		return s, p
	}

	var xcr0 uint64
	if has(c1, leaf1ecxOSXSAVE) {
		xcr0 = xgetbv()
	}
	ymm := xcr0&xcr0AVX == xcr0AVX && has(c1, leaf1ecxAVX)
	zmm := xcr0&xcr0AVX512 == xcr0AVX512

	_, b7, c7, _ := cpuid(7, 0)
	if has(b7, leaf7ebxBMI1|leaf7ebxBMI2) {
		s |= IntelBMI2
	}
	if ymm && has(b7, leaf7ebxAVX2) {
		s |= IntelAVX2
	}
	if has(c7, leaf7ecxVAES|leaf7ecxVPCLMUL) {
		s |= IntelVAESVPCLMUL
	}
	if has(c7, leaf7ecxGFNI) {
		s |= IntelGFNI
	}
	if zmm && has(b7, leaf7ebxAVX512F|leaf7ebxAVX512CD|leaf7ebxAVX512BW|leaf7ebxAVX512DQ|leaf7ebxAVX512VL) {
		s |= IntelAVX512
	}
	if has(c7, leaf7ecxVBMI) {
		s |= IntelAVX512VBMI
	}
	// Whatever lacks its foundation, GFNI without AVX2 for one, goes here.
	return s.supported(), p
}

// has reports whether all bits of mask are set in v.
func has(v, mask uint32) bool { return v&mask == mask }

// decodeSignature splits leaf 1's EAX. The extended family counts for base family 15 only; the extended model
// from base family 6 on.
func decodeSignature(a uint32) (family, model, stepping int) {
	base := int(a >> 8 & 15)
	family, model, stepping = base, int(a>>4&15), int(a&15)
	if base == 15 {
		family += int(a >> 20 & 255)
	}
	if base >= 6 {
		model |= int(a>>16&15) << 4
	}
	return family, model, stepping
}

// brand reads the marketing name from the three leaves that hold it, where there are three.
func brand(cpuid func(leaf, sub uint32) (a, b, c, d uint32)) string {
	const first, last = 0x80000002, 0x80000004
	if limit, _, _, _ := cpuid(0x80000000, 0); limit < last || limit > 0x8000ffff {
		return ""
	}
	var words [12]uint32
	for i := range uint32(3) {
		w := words[4*i:]
		w[0], w[1], w[2], w[3] = cpuid(first+i, 0)
	}
	return text(words[:]...)
}

// text makes a string of registers, least significant byte first. It ends at the first zero byte, has neither
// leading nor trailing nor double spaces, and shows what is not printable ASCII as question marks.
func text(words ...uint32) string {
	b := make([]byte, 0, 4*len(words))
	for i := range 4 * len(words) {
		c := byte(words[i/4] >> (8 * (i % 4)))
		if c == 0 {
			break
		}
		if c < ' ' || c > '~' {
			c = '?'
		}
		b = append(b, c)
	}
	return strings.Join(strings.Fields(string(b)), " ")
}
