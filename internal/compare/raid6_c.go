//go:build cgo && libisal && amd64

package main

/*
#include <immintrin.h>
#include <isa-l/raid.h>
#include "clock.h"

// compareAndMask is P and Q as H. P. Anvin's paper "The mathematics of RAID-6" describes them: Horner's rule, in which a
// compare finds the bytes whose high bit is shifted out and a mask picks their reductions. Four vectors of 32 bytes of each
// disk at a time; P and Q are stored past the cache.
__attribute__((target("avx2")))
static void compareAndMask(int disks, size_t size, unsigned char **d) {
	const __m256i reduction = _mm256_set1_epi8(0x1d), zero = _mm256_setzero_si256();
	unsigned char *p = d[disks - 2], *q = d[disks - 1];
	for (size_t at = 0; at < size; at += 128) {
		__m256i sum[4], horner[4];
		for (int v = 0; v < 4; v++) sum[v] = horner[v] = _mm256_load_si256((__m256i *)(d[disks - 3] + at + 32 * v));
		for (int z = disks - 4; z >= 0; z--)
			for (int v = 0; v < 4; v++) {
				__m256i data = _mm256_load_si256((__m256i *)(d[z] + at + 32 * v));
				__m256i mask = _mm256_cmpgt_epi8(zero, horner[v]);
				sum[v] = _mm256_xor_si256(sum[v], data);
				horner[v] = _mm256_add_epi8(horner[v], horner[v]);
				horner[v] = _mm256_xor_si256(_mm256_xor_si256(horner[v], _mm256_and_si256(mask, reduction)), data);
			}
		for (int v = 0; v < 4; v++) {
			_mm256_stream_si256((__m256i *)(p + at + 32 * v), sum[v]);
			_mm256_stream_si256((__m256i *)(q + at + 32 * v), horner[v]);
		}
	}
	_mm_sfence();
}

enum { ISAL, ISAL_AVX2, PAPER };

// syndrome repeats P and Q n times and returns the nanoseconds.
static long long syndrome(int by, int disks, size_t size, unsigned char **d, long n) {
	long long start = now();
	for (long i = 0; i < n; i++)
		switch (by) {
		case ISAL: pq_gen(disks, size, (void **)d); break;
		case ISAL_AVX2: pq_gen_avx2(disks, size, (void **)d); break;
		default: compareAndMask(disks, size, d);
		}
	return now() - start;
}

// parity repeats P alone.
static long long parity(int by, int disks, size_t size, unsigned char **d, long n) {
	long long start = now();
	for (long i = 0; i < n; i++)
		if (by == ISAL) xor_gen(disks - 1, size, (void **)d);
		else xor_gen_avx(disks - 1, size, (void **)d);
	return now() - start;
}
*/
import "C"

import (
	"time"

	"github.com/twogather/twogather/hwfeatures"
)

func raid6InC() []library {
	isal := C.int(C.ISAL)
	if !hwfeatures.Enabled().Has(hwfeatures.IntelAVX512) {
		isal = C.ISAL_AVX2
	}
	by := func(name string, by C.int) library {
		return library{name, func(w work) runner {
			a := w.counted.(*array)
			if a.operation == genParity && by == C.PAPER {
				return nil
			}
			var chunks []*C.uchar
			for _, c := range a.chunks() {
				chunks = append(chunks, pointer(c)) // it is not Go's memory
			}
			return func(n int) time.Duration {
				if a.operation == genParity {
					return time.Duration(C.parity(by, C.int(a.disks), C.size_t(a.chunk), &chunks[0], C.long(n)))
				}
				return time.Duration(C.syndrome(by, C.int(a.disks), C.size_t(a.chunk), &chunks[0], C.long(n)))
			}
		}}
	}
	return []library{by("ISA-L", isal), by("compare and mask", C.PAPER)}
}
