//go:build purego || !(amd64 || arm64)

package hwfeatures

func marketingName() string { return "" }

// detect finds nothing: a build without assembly has nothing to choose.
func detect() (Set, Processor, tuningReasons) {
	const why = "this build has no assembly"
	return 0, Processor{}, tuningReasons{why, why, why}
}
