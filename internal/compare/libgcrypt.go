//go:build cgo && libgcrypt

package main

/*
#cgo LDFLAGS: -lgcrypt
#include <gcrypt.h>
#include "clock.h"

// start initialises the library and returns its version.
static const char *start(void) {
	const char *version = gcry_check_version(NULL);
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	return version;
}

// crypt repeats one operation on size bytes and returns the nanoseconds, or -1. decrypt is 1 for decryption, 2 for
// encryption in sectors of 512 bytes.
static long long crypt(int mode, int decrypt, unsigned char *dst, const unsigned char *src, size_t size, long n) {
	static const unsigned char key[64] = {[0] = 1, [32] = 2}, iv[16] = {4, 5, 6};
	int xts = mode == GCRY_CIPHER_MODE_XTS, aead = mode == GCRY_CIPHER_MODE_EAX || mode == GCRY_CIPHER_MODE_OCB;
	size_t sector = decrypt == 2 ? 512 : size, iv_size = mode == GCRY_CIPHER_MODE_OCB ? 15 : 16;
	unsigned char tag[16];
	gcry_cipher_hd_t h;
	if (gcry_cipher_open(&h, GCRY_CIPHER_TWOFISH, mode, 0) || gcry_cipher_setkey(h, key, xts ? 64 : 32)) return -1;
	if (mode == GCRY_CIPHER_MODE_CTR ? gcry_cipher_setctr(h, iv, sizeof iv) : mode != GCRY_CIPHER_MODE_ECB && gcry_cipher_setiv(h, iv, iv_size)) return -1;
	gcry_error_t failed = 0;
	long long start = now();
	for (long i = 0; i < n; i++)
		for (size_t at = 0; at < size; at += sector) {
			if (xts || aead) failed |= gcry_cipher_setiv(h, iv, iv_size);
			if (aead) gcry_cipher_final(h);
			failed |= decrypt == 1 ? gcry_cipher_decrypt(h, dst + at, sector, src + at, sector) : gcry_cipher_encrypt(h, dst + at, sector, src + at, sector);
			if (aead) failed |= gcry_cipher_gettag(h, tag, sizeof tag);
		}
	start = now() - start;
	gcry_cipher_close(h);
	return failed ? -1 : start;
}

// gcmStart readies a handle for one message, whose additional data it takes.
static gcry_error_t gcmStart(gcry_cipher_hd_t h, const unsigned char *nonce, size_t nonceSize, const unsigned char *data, size_t dataSize) {
	gcry_error_t failed = gcry_cipher_reset(h) | gcry_cipher_setiv(h, nonce, nonceSize);
	return dataSize ? failed | gcry_cipher_authenticate(h, data, dataSize) : failed;
}

// gcm repeats one message, tag included, and returns the nanoseconds, or -1.
static long long gcm(int decrypt, unsigned char *dst, const unsigned char *src, size_t size, long n) {
	static const unsigned char key[32] = {1, 2, 3}, nonce[12] = {4, 5, 6};
	unsigned char tag[16];
	gcry_cipher_hd_t h;
	if (gcry_cipher_open(&h, GCRY_CIPHER_TWOFISH, GCRY_CIPHER_MODE_GCM, 0) || gcry_cipher_setkey(h, key, sizeof key)) return -1;
	gcry_error_t failed = 0;
	long long start = now();
	for (long i = 0; i < n; i++) {
		failed |= gcmStart(h, nonce, sizeof nonce, NULL, 0);
		failed |= decrypt ? gcry_cipher_decrypt(h, dst, size, src, size) : gcry_cipher_encrypt(h, dst, size, src, size);
		failed |= gcry_cipher_gettag(h, tag, sizeof tag);
	}
	start = now() - start;
	gcry_cipher_close(h);
	return failed ? -1 : start;
}

// gcmSealed encrypts one message in place and writes its tag; it returns 0 unless that fails.
static int gcmSealed(const unsigned char *key, size_t keySize, const unsigned char *nonce, size_t nonceSize,
		const unsigned char *data, size_t dataSize, unsigned char *message, size_t size, unsigned char *tag) {
	gcry_cipher_hd_t h;
	if (gcry_cipher_open(&h, keySize == 16 ? GCRY_CIPHER_TWOFISH128 : GCRY_CIPHER_TWOFISH, GCRY_CIPHER_MODE_GCM, 0)) return -1;
	gcry_error_t failed = gcry_cipher_setkey(h, key, keySize) | gcmStart(h, nonce, nonceSize, data, dataSize);
	if (size) failed |= gcry_cipher_encrypt(h, message, size, NULL, 0);
	failed |= gcry_cipher_gettag(h, tag, 16);
	gcry_cipher_close(h);
	return failed != 0;
}

// mac is crypt for CMAC.
static long long mac(const unsigned char *src, size_t size, long n) {
	static const unsigned char key[32] = {1};
	unsigned char tag[16];
	gcry_mac_hd_t h;
	if (gcry_mac_open(&h, GCRY_MAC_CMAC_TWOFISH, 0, NULL) || gcry_mac_setkey(h, key, sizeof key)) return -1;
	gcry_error_t failed = 0;
	long long start = now();
	for (long i = 0; i < n; i++) {
		size_t tag_size = sizeof tag;
		failed |= gcry_mac_reset(h) | gcry_mac_write(h, src, size) | gcry_mac_read(h, tag, &tag_size);
	}
	start = now() - start;
	gcry_mac_close(h);
	return failed ? -1 : start;
}

// keys sets a fresh key n times and, if asked, encrypts a block and a batch with it.
static long long keys(int process, const unsigned char *keys, size_t size, long n) {
	unsigned char buf[256] = {0};
	gcry_cipher_hd_t h;
	gcry_error_t failed = 0;
	if (gcry_cipher_open(&h, size == 16 ? GCRY_CIPHER_TWOFISH128 : GCRY_CIPHER_TWOFISH, GCRY_CIPHER_MODE_ECB, 0)) return -1;
	long long start = now();
	for (long i = 0; i < n; i++) {
		failed |= gcry_cipher_setkey(h, keys + i % 256 * size, size);
		if (process) {
			failed |= gcry_cipher_encrypt(h, buf, 16, NULL, 0);
			failed |= gcry_cipher_encrypt(h, buf, sizeof buf, NULL, 0);
		}
	}
	start = now() - start;
	gcry_cipher_close(h);
	return failed ? -1 : start;
}
*/
import "C"

import (
	"slices"
	"time"
)

const libgcryptMissing = ""

func libgcrypt() []library {
	C.start()
	return []library{
		{"libgcrypt", func(w work) runner { return libgcryptRunner(w, "") }},
		{"libgcrypt best", func(w work) runner { return libgcryptRunner(w, cbcDecrypt) }},
	}
}

// wideModes are those for which libgcrypt's fastest path counts too.
var wideModes = []string{ecbEncrypt, ecbDecrypt, cbcDecrypt, ctr, blockEncrypt, blockDecrypt, cfbDecrypt, xtsEncrypt, xtsDecrypt, xtsSectors, ocbEncrypt}

// libgcryptRunner measures w or, where best is given and w is a mode, that mode in its place.
func libgcryptRunner(w work, best string) runner {
	for _, size := range []int{16, 32} { // it has no 192-bit keys
		for process, name := range []string{newCipher, newAndProcess} {
			if w.name == name+keyName(size) && best == "" {
				all := random(256 * size)
				return func(n int) time.Duration {
					return elapsed(C.keys(C.int(process), pointer(all), C.size_t(size), C.long(n)))
				}
			}
		}
	}
	name := w.name
	if best != "" && name != cbcEncrypt && w.size > 16 && slices.Contains(wideModes, name) {
		name = best
	}
	mode, decrypt := 0, 0
	switch name {
	case ecbEncrypt, blockEncrypt:
		mode = C.GCRY_CIPHER_MODE_ECB
	case ecbDecrypt, blockDecrypt:
		mode, decrypt = C.GCRY_CIPHER_MODE_ECB, 1
	case cbcEncrypt:
		mode = C.GCRY_CIPHER_MODE_CBC
	case cbcDecrypt:
		mode, decrypt = C.GCRY_CIPHER_MODE_CBC, 1
	case ctr, streamOne:
		mode = C.GCRY_CIPHER_MODE_CTR
	case cfbEncrypt:
		mode = C.GCRY_CIPHER_MODE_CFB
	case cfbDecrypt:
		mode, decrypt = C.GCRY_CIPHER_MODE_CFB, 1
	case ofb:
		mode = C.GCRY_CIPHER_MODE_OFB
	case xtsEncrypt:
		mode = C.GCRY_CIPHER_MODE_XTS
	case xtsDecrypt:
		mode, decrypt = C.GCRY_CIPHER_MODE_XTS, 1
	case xtsSectors:
		mode, decrypt = C.GCRY_CIPHER_MODE_XTS, 2
	case eaxEncrypt:
		mode = C.GCRY_CIPHER_MODE_EAX
	case ocbEncrypt:
		mode = C.GCRY_CIPHER_MODE_OCB
	case cmac:
		if best != "" {
			return nil
		}
		src := random(w.size)
		return func(n int) time.Duration { return elapsed(C.mac(pointer(src), C.size_t(w.size), C.long(n))) }
	}
	if best == "" && (name == gcmSeal || name == gcmOpen) {
		decrypt := 0
		if name == gcmOpen {
			decrypt = 1
		}
		dst, src := make([]byte, w.size), random(w.size)
		return func(n int) time.Duration {
			return elapsed(C.gcm(C.int(decrypt), pointer(dst), pointer(src), C.size_t(w.size), C.long(n)))
		}
	}
	if mode == 0 || w.size == 0 || best != "" && name != best {
		return nil
	}
	dst, src := make([]byte, w.size), random(w.size)
	return func(n int) time.Duration {
		return elapsed(C.crypt(C.int(mode), C.int(decrypt), pointer(dst), pointer(src), C.size_t(w.size), C.long(n)))
	}
}

// libgcryptGCM returns what libgcrypt makes of a message, with a tag of 16 bytes, and whether it does.
func libgcryptGCM(key, nonce, plaintext, additionalData []byte) (sealed []byte, ok bool) {
	sealed = make([]byte, len(plaintext)+16)
	copy(sealed, plaintext)
	n := len(plaintext)
	failed := C.gcmSealed(pointer(key), C.size_t(len(key)), pointer(nonce), C.size_t(len(nonce)),
		pointer(additionalData), C.size_t(len(additionalData)), pointer(sealed), C.size_t(n), pointer(sealed[n:]))
	return sealed, failed == 0
}

func elapsed(ns C.longlong) time.Duration {
	if ns < 0 {
		panic("libgcrypt refused an operation")
	}
	return time.Duration(ns)
}
