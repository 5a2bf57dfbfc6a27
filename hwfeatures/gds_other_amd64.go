//go:build !purego && !linux

package hwfeatures

func gatherDataSampling() string { return "" }
