// Package raid6 computes the P and Q of RAID-6 arrays, as Linux's md knows them: P is the sum of the data disks, Q the sum of
// 2^z times disk z, in GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1. Any two disks of an array can be computed from
// the others. P alone, as in RAID-5, makes up for one. ZFS's raidz2 has the same P and Q of its columns in reverse: there the
// last one has 2^0, and columns that are shorter count as zeros behind their end.
//
// A disk here is a chunk: what lies at the same place on each disk of a stripe. The caller knows which disk of which stripe
// holds P and Q, and gives the chunks in the order of the data, then P, then Q. Functions that take disks take all of
// them in that order, and name them by their index in it. Chunks have any length, the same for all, and any alignment.
//
// What is wrong with the arguments is an error before anything is written: fewer than [MinData] or more than [MaxData] data
// disks, chunks that are nil or differ in length, one that is written to and overlaps another, and disks that are not there.
//
// The package's functions use the kernel that is best for the processor, and several goroutines for chunks of hundreds of
// KiB. A [Code] does the same with a choice: of goroutines, or, from [Tune], of the kernel that is fastest for an array's
// width and chunk on the machine at hand. Nothing is allocated unless goroutines are started. Package hwfeatures describes
// the environment variables that change the choice for a process; kernels have Linux's names, such as avx2x4, and those with
// GFNI names like avx2-gfnix4. With the build tag purego, and on processors other than amd64, everything is Go.
//
// The algorithm is described in H. P. Anvin: The mathematics of RAID-6. The package is checked against arrays made by mdadm:
// it verifies and repairs what md wrote, and md what it wrote.
package raid6
