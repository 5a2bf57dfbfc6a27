.PHONY: all test test-native ci emulate emulate-record emulate-wrong generate compare bench

all: test

# What a contributor runs before a commit.
test:
	go vet ./...
	go test ./...

# The kernels' tests on processors that this machine is not, and instruction counts (emulate/README.md).
emulate:
	go run ./emulate $(ARGS)

# The figures that make emulate compares with, anew.
emulate-record:
	go run ./emulate -record $(ARGS)

# Wrong kernels, to see that make emulate would catch them.
emulate-wrong:
	go run ./emulate -wrong $(ARGS)

# The same tests on this machine, for those kernels that it can run.
test-native:
	go run ./emulate -native

# Everything that must hold, as a fresh machine checks it.
ci:
	.ci/run

# Assembly, its stubs, and tables.
generate:
	cd _asm && go run ./hwfeatures && go run ./instructions && go run ./twofish && go run ./erasure

# Side by side with golang.org/x/crypto/twofish and libgcrypt (Debian: libgcrypt20-dev).
compare:
	cd internal/compare && go run $(shell pkg-config --exists libgcrypt && echo -tags libgcrypt) . $(ARGS)

bench:
	go run ./cmd/bench-slope cipher twofish
