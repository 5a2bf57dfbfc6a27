.PHONY: all test test-native ci emulate emulate-md emulate-record emulate-wrong model generate compare plan-check plots bench

all: test

# What a contributor runs before a commit.
test:
	go vet ./...
	go test ./...

# The kernels' tests on processors that this machine is not, and instruction counts (emulate/README.md).
emulate:
	go run ./emulate $(ARGS)

# Package raid6 against Linux's md: arrays that mdadm makes in an emulated machine.
emulate-md:
	TWOGATHER_TEST_MDADM=1 go test -count=1 -v -run '^TestMdadm$$' -exec 'go tool x86 --cpu avx2 --arrays' ./raid6

# The figures that make emulate compares with, anew.
emulate-record:
	go run ./emulate -record $(ARGS)

# Wrong kernels, to see that make emulate would catch them.
emulate-wrong:
	go run ./emulate -wrong $(ARGS)

# Cycles per byte of the amd64 kernels' main loops on other processors, in llvm-mca's model.
model:
	go run ./emulate -model

# The same tests on this machine, for those kernels that it can run.
test-native:
	go run ./emulate -native

# Everything that must hold, as a fresh machine checks it.
ci:
	.ci/run

# Assembly, its stubs, and tables.
generate:
	cd _asm && go run ./hwfeatures && go run ./instructions && go run ./twofish && go run ./erasure && go run ./raid6 && go run ./ghash && go run ./modes

# Side by side with other libraries: Go's, and those in C that are installed (Debian: libgcrypt20-dev, libisal-dev).
COMPARE = cd internal/compare && go run -tags "$(shell for l in libgcrypt libisal; do pkg-config --exists $$l && echo $$l; done)" .
compare:
	$(COMPARE) $(ARGS)

# The README's charts, measured anew.
plots:
	mkdir -p docs
	$(COMPARE) -plots ../../docs $(ARGS)

# Lengths at which one kernel alone takes less time than the plan that mixes them. For a quiet machine: five minutes.
plan-check:
	$(COMPARE) -plan $(ARGS)

bench:
	go run ./cmd/bench-slope cipher twofish
