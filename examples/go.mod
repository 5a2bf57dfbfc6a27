module github.com/twogather/twogather/examples

go 1.26.0

require (
	github.com/go-crypt/x v0.4.17
	github.com/twogather/twogather v0.0.0
	golang.org/x/crypto v0.59.0
	golang.org/x/term v0.48.0
)

require golang.org/x/sys v0.50.0 // indirect

replace github.com/twogather/twogather => ..
