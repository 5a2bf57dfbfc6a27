//go:build !amd64 || purego

package modes

// There is nothing to spare the portable code its work.

func xorSteps(dst, x, y []byte) int                                            { return 0 }
func foldSteps(sum *word128, b []byte) int                                     { return 0 }
func fillTweaksSteps(masks []byte, t *tweak) int                               { return 0 }
func fillOffsetsSteps(offsets []byte, first, l, offset *word128, i uint64) int { return 0 }
func collectSteps(rows, a, b []byte, steps, row int) int                       { return 0 }
func distributeSteps(a, b, rows []byte, steps, row int) int                    { return 0 }
func prefetch(dst, src []byte, n int)                                          {}
