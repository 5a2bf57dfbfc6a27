package hwfeatures

import (
	"os"
	"strings"
	"sync"
)

func init() {
	detected, processor, reasons = detect()

	hwf, wrong := parseHWF(os.Getenv("TWOGATHER_HWF"), detected)
	enabled = hwf
	reasons = reasons.overridden(detected, enabled)
	for _, w := range wrong {
		warn(w)
	}

	forced, wrong = parseKernels(os.Getenv("TWOGATHER_KERNEL"))
	for _, w := range wrong {
		warn(w)
	}
}

// parseHWF applies the value of TWOGATHER_HWF to a detected set, item by item from the left. An item that is
// wrong changes nothing and yields a warning.
func parseHWF(value string, detected Set) (enabled Set, warnings []string) {
	enabled = detected
	for item := range items(value) {
		refuse := func(why string) {
			warnings = append(warnings, "TWOGATHER_HWF: "+quote(item)+" ignored: "+why)
		}
		if item == "" {
			refuse("empty item")
			continue
		}
		sign, name := item[0], item[1:]
		if sign != '-' && sign != '+' {
			refuse("want -name or +name")
			continue
		}
		f, err := Parse(name)
		if err != nil {
			if _, err := Parse(strings.ToLower(name)); err == nil {
				refuse("names are lower case")
			} else {
				refuse("unknown feature; known: " + known.String())
			}
			continue
		}
		switch {
		case sign == '-':
			enabled = enabled.Without(f)
		case tunings.Has(f):
			enabled |= f
		case !detected.Has(f):
			refuse("the processor or the operating system lacks it")
		case !enabled.Has(f):
			refuse("an earlier item takes it away; only tunings can be added")
		}
	}
	return enabled, warnings
}

// primitives are the names that TWOGATHER_KERNEL knows on the left of its equals signs.
var primitives = [...]string{"twofish", "erasure", "raid6", "ghash"}

type forcedKernel struct{ primitive, name string }

// parseKernels reads the value of TWOGATHER_KERNEL. Whether a kernel exists is for its primitive to say.
func parseKernels(value string) (forced []forcedKernel, warnings []string) {
next:
	for item := range items(value) {
		refuse := func(why string) {
			warnings = append(warnings, "TWOGATHER_KERNEL: "+quote(item)+" ignored: "+why)
		}
		if item == "" {
			refuse("empty item")
			continue
		}
		primitive, name, ok := strings.Cut(item, "=")
		primitive, name = strings.TrimSpace(primitive), strings.TrimSpace(name)
		switch {
		case !ok:
			refuse("want primitive=kernel")
			continue
		case !isPrimitive(primitive):
			refuse("unknown primitive; known: " + strings.Join(primitives[:], " "))
			continue
		case name == "":
			refuse("no kernel named")
			continue
		}
		for _, f := range forced {
			if f.primitive == primitive {
				refuse(primitive + " already has " + quote(f.name))
				continue next
			}
		}
		forced = append(forced, forcedKernel{primitive, name})
	}
	return forced, warnings
}

func isPrimitive(name string) bool {
	for _, p := range primitives {
		if p == name {
			return true
		}
	}
	return false
}

// items yields what stands between a value's commas, without white space around it. A blank value has no items,
// as if the variable were not set.
func items(value string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if strings.TrimSpace(value) == "" {
			return
		}
		for item := range strings.SplitSeq(value, ",") {
			if !yield(strings.TrimSpace(item)) {
				return
			}
		}
	}
}

// warnings is what has been said, each message once.
var warnings struct {
	sync.Mutex
	said []string
}

// Warnings returns what was wrong with TWOGATHER_HWF and TWOGATHER_KERNEL so far, a message each. All of it has
// been printed to standard error.
func Warnings() []string {
	warnings.Lock()
	defer warnings.Unlock()
	return append([]string(nil), warnings.said...)
}

// RefuseKernel records and prints that the kernel which TWOGATHER_KERNEL names is not used, and why. Kernel tables
// call it when they do not know the name or when the processor cannot run the kernel; saying the same again does
// nothing.
func RefuseKernel(primitive, name, why string) {
	warn("TWOGATHER_KERNEL: " + quote(primitive+"="+name) + " ignored: " + why)
}

// warn keeps a message and prints it, if it is new. Standard error may be closed; then Warnings still has it.
func warn(message string) {
	warnings.Lock()
	defer warnings.Unlock()
	for _, s := range warnings.said {
		if s == message {
			return
		}
	}
	warnings.said = append(warnings.said, message)
	os.Stderr.WriteString("twogather: " + message + "\n")
}
