module github.com/twogather/twogather/cmd/shards

go 1.26.0

require (
	github.com/cheggaaa/pb/v3 v3.3.0
	github.com/mattn/go-isatty v0.0.24
	github.com/spf13/pflag v1.1.0
	github.com/twogather/twogather v0.0.0
)

require (
	github.com/VividCortex/ewma v1.2.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/fatih/color v1.19.0 // indirect
	github.com/mattn/go-colorable v0.1.16 // indirect
	github.com/mattn/go-runewidth v0.0.31 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/twogather/twogather => ../..
