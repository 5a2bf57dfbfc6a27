//go:build cgo && libisal

package main

/*
#cgo LDFLAGS: -lisal
#include <isa-l/erasure_code.h>
#include "clock.h"

typedef unsigned char u8;

// encode repeats the making of p outputs of k sources n times, with the best of the library's kernels or with those for
// AVX2, and returns the nanoseconds.
static long long encode(int avx2, int size, int k, int p, u8 *tables, u8 **sources, u8 **outputs, long n) {
	long long start = now();
	for (long i = 0; i < n; i++)
		if (avx2) ec_encode_data_avx2(size, k, p, tables, sources, outputs);
		else ec_encode_data(size, k, p, tables, sources, outputs);
	return now() - start;
}

// update repeats the addition of one source to p outputs.
static long long update(int avx2, int size, int k, int p, u8 *tables, u8 *source, u8 **outputs, long n) {
	long long start = now();
	for (long i = 0; i < n; i++)
		if (avx2) ec_encode_data_update_avx2(size, k, p, 0, tables, source, outputs);
		else ec_encode_data_update(size, k, p, 0, tables, source, outputs);
	return now() - start;
}
*/
import "C"

import (
	"time"
	"unsafe"

	"github.com/twogather/twogather/hwfeatures"
)

const isalMissing = ""

func isal() []library {
	return []library{{"ISA-L", func(w work) runner {
		c := w.counted.(*code)
		avx2 := C.int(0)
		if !hwfeatures.Enabled().Has(hwfeatures.IntelAVX512) {
			avx2 = 1
		}
		// What the coefficients are makes no difference to it, as long as nothing is 0 or 1.
		matrix := make([]byte, c.data*c.parity)
		for i := range matrix {
			matrix[i] = byte(2 + i%250)
		}
		tables := make([]byte, 32*len(matrix))
		C.ec_init_tables(C.int(c.data), C.int(c.parity), pointer(matrix), pointer(tables))
		// The shards are not Go's memory.
		shards := c.shards()
		pointers := make([]*C.u8, len(shards))
		for i, s := range shards {
			pointers[i] = pointer(s)
		}
		sources, outputs := pointers[:c.data], pointers[c.data:]
		if c.operation == reconstruct {
			sources, outputs = pointers[c.parity:], pointers[:c.parity]
		}
		size, data, parity := C.int(c.size), C.int(c.data), C.int(c.parity)
		return func(n int) time.Duration {
			s, o := (**C.u8)(unsafe.Pointer(&sources[0])), (**C.u8)(unsafe.Pointer(&outputs[0]))
			if c.operation == update {
				return time.Duration(C.update(avx2, size, data, parity, pointer(tables), sources[0], o, C.long(n)))
			}
			return time.Duration(C.encode(avx2, size, data, parity, pointer(tables), s, o, C.long(n)))
		}
	}}}
}
