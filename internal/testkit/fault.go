package testkit

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// WhereFaults runs f, which must touch inaccessible memory, and returns the stack at that moment, innermost function
// first: what touched it, and how the program got there. trace is the same as text, with the functions' arguments.
//
// It is how tests see which kernel a call reaches without any hook in the code that makes the call.
func WhereFaults(t testing.TB, f func()) (stack []runtime.Frame, trace string) {
	t.Helper()
	func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			v := recover()
			if _, ok := v.(interface{ Addr() uintptr }); v != nil && !ok {
				panic(v) // a failure of its own
			}
			if v == nil {
				return
			}
			pcs := make([]uintptr, 64)
			frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
			inside := false
			for {
				frame, more := frames.Next()
				if inside {
					stack = append(stack, frame)
				}
				inside = inside || frame.Function == "runtime.sigpanic"
				if !more {
					break
				}
			}
			text := make([]byte, 16<<10)
			trace = string(text[:runtime.Stack(text, false)])
		}()
		f()
	}()
	if stack == nil {
		t.Fatal("inaccessible memory was not touched")
	}
	return stack, trace
}
