//go:build race

package vectors

// Race reports whether the race detector is on.
const Race = true
