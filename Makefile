.PHONY: all test ci generate compare bench

all: test

# What a contributor runs before a commit.
test:
	go vet ./...
	go test ./...

# Everything that must hold, as a fresh machine checks it.
ci:
	.ci/run

# Assembly, its stubs, and tables.
generate:
	cd _asm && go run ./hwfeatures && go run ./instructions && go run ./twofish

# Side by side with golang.org/x/crypto/twofish and libgcrypt (Debian: libgcrypt20-dev).
compare:
	cd internal/compare && go run $(shell pkg-config --exists libgcrypt && echo -tags libgcrypt) . $(ARGS)

bench:
	go run ./cmd/bench-slope cipher twofish
