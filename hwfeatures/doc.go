// Package hwfeatures says what the processor can do and what it does well, for choosing between kernels.
//
// Programs that only encrypt, or only encode, need nothing from this package: the kernels are chosen without
// being asked. It is for looking at that choice and for overruling it.
//
// There are two kinds of feature, and they are never mixed up:
//   - a capability (intel-avx2, intel-gfni, arm-sve, …) is something without which code faults. The processor
//     announces it and the operating system keeps the registers that it works on; one of the two is not enough.
//   - a tuning (intel-fast-vpgather, vpgather-beats-manual, sve-beats-neon) is something without which code is only
//     slower. It comes from a table of processor models, with the measurement behind each row; [Reason] quotes the row.
//     Only sve-beats-neon comes from the length of vectors, and is not measured yet.
//
// A processor that the table does not know has no tunings. Where one is affected by Gather Data Sampling ("Downfall"),
// Linux is asked whether the mitigation, which makes gathers several times slower, is on.
//
// # Environment
//
// Two variables overrule the choice, for tests, benchmarks and emergencies. They are read once, when the program
// starts.
//
//	TWOGATHER_HWF=-intel-gfni,+intel-fast-vpgather
//
// takes the GFNI capability away and adds a tuning. A minus sign takes any feature away, and with a capability
// those that build on it: intel-avx512-vbmi goes with intel-avx512; that, intel-gfni and intel-vaes-vpclmul with
// intel-avx2; all of them with intel-ssse3; intel-vaes-vpclmul with intel-pclmul also; arm-sve2 with arm-sve; every
// arm feature with arm-neon. Taking away what is not there does nothing. A plus sign only adds tunings; a
// capability that the processor lacks is refused. Items count from left to right.
//
//	TWOGATHER_KERNEL=twofish=avx2-manual,raid6=avx2x4
//
// makes a primitive (twofish, erasure, raid6, ghash) use one kernel, if the processor can run it. A Cipher that has to
// be constant-time takes no notice of a kernel that is not. ghash is the hash of GCM.
//
// White space around names does not count, case does. What is wrong changes nothing, is printed to standard error
// in a line that starts with "twogather: ", and is kept for [Warnings].
//
// # Architectures
//
// Capabilities are known on amd64 and arm64. On other architectures, and in builds with the tag purego, there
// is no assembly to choose and both kinds are empty.
package hwfeatures
