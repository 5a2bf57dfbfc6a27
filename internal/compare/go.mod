module github.com/twogather/twogather/internal/compare

go 1.26.0

require (
	github.com/klauspost/reedsolomon v1.14.2
	github.com/twogather/twogather v0.0.0
	golang.org/x/crypto v0.59.0
)

require (
	github.com/klauspost/cpuid/v2 v2.3.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/twogather/twogather => ../..
