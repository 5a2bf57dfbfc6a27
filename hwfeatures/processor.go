package hwfeatures

import "strconv"

// A Processor is the identity that a processor, or the hypervisor above it, gives of itself.
type Processor struct {
	Vendor     string // "GenuineIntel", "AuthenticAMD", …
	Brand      string // the marketing name; may be empty
	Family     int    // base and extended family added up
	Model      int    // base and extended model put together
	Stepping   int
	Hypervisor bool // this is a virtual machine, whose model may be made up
}

// String returns vendor, family and model the way manuals write them, and the brand if there is one:
// "AuthenticAMD 1A_02 (AMD EPYC 9575F)". A processor without identity is "unknown".
func (p Processor) String() string {
	if p.Vendor == "" {
		return "unknown"
	}
	s := p.Vendor + " " + hex2(p.Family) + "_" + hex2(p.Model)
	if p.Brand != "" {
		s += " (" + p.Brand + ")"
	}
	return s
}

// hex2 writes n in upper-case hexadecimal, two digits at least.
func hex2(n int) string {
	var b []byte
	if n >= 0 && n < 16 {
		b = append(b, '0')
	}
	b = strconv.AppendInt(b, int64(n), 16)
	for i, c := range b {
		if 'a' <= c && c <= 'f' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

// quote quotes what a user or a machine wrote, so that it stays on one line and within reason.
func quote(s string) string {
	const limit = 64
	if len(s) <= limit {
		return strconv.QuoteToASCII(s)
	}
	return strconv.QuoteToASCII(s[:limit]) + "..."
}
