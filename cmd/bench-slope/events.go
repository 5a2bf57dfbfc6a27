package main

// events are what the processor counted. Without counters there are none.
type events struct{ instructions, cycles uint64 }
