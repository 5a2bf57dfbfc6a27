// Package modes puts modes of operation on any [crypto/cipher.Block].
//
//	ECB, CBC       [NewECBEncrypter], [NewCBCEncrypter] …   block modes
//	CFB, OFB, CTR  [NewCFBEncrypter], [NewOFB], [NewCTR] …  streams; CTR can seek
//	XTS            [NewXTS], [NewXTSCipher]                 disks: sectors, many in a call
//	CMAC           [NewCMAC]                                a message authentication code
//	EAX, GCM, OCB  [NewEAX], [NewGCM], [NewOCB]             AEADs
//	CBC, CFB       [EncryptCBC], [EncryptCFB]               encryption of several messages side by side
//
// Those that crypto/cipher has too behave as they do there, to the texts of the panics; XTS behaves as
// golang.org/x/crypto/xts does. They are fast where the block can process many blocks in one call: where it is a [Bulk]. A
// Bulk may also offer whole operations that it can do better than a mode could from outside: as a [BulkCTR], a
// [BulkCBCEncrypter], a [BulkCBCDecrypter] or a [BulkLanes].
//
// What has to be done in a row stays slow for one message, whatever the block: encryption in CBC and CFB mode, OFB, and
// authentication in CMAC and EAX.
//
// Only EAX, GCM and OCB authenticate what they encrypt: in the other modes a message that was changed on the way decrypts
// without an error. New designs want an AEAD.
//
// No address and no branch in this package depends on a key or a message, as far as the block's own code does not. Nonces,
// IVs, tweaks and lengths are taken to be public.
package modes
