module github.com/twogather/twogather

go 1.26.0

require golang.org/x/sys v0.50.0

require golang.org/x/crypto v0.59.0

tool (
	github.com/twogather/twogather/emulate/arm64
	github.com/twogather/twogather/emulate/x86
)
