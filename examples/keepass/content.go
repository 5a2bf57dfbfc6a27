package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/twogather/twogather/examples/internal/cli"
	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/salsa20"
)

// Streams that protect values inside the XML.
const (
	streamSalsa20  = 2
	streamChaCha20 = 3
)

// content is an XML document, and the key stream that its protected values are XORed with, in the document's order.
type content struct {
	document  []byte
	keyStream []byte
}

func newContent(document, stream, key []byte) (x content, err error) {
	x = content{document, make([]byte, len(document))}
	switch id := littleEndian(stream); id {
	case streamSalsa20:
		k := sha256.Sum256(key)
		salsa20.XORKeyStream(x.keyStream, x.keyStream, []byte{0xe8, 0x30, 0x09, 0x4b, 0x97, 0x20, 0x5d, 0x2a}, &k)
	case streamChaCha20:
		k := sha512.Sum512(key)
		c, err := chacha20.NewUnauthenticatedCipher(k[:chacha20.KeySize], k[chacha20.KeySize:][:chacha20.NonceSize])
		if err != nil {
			return x, err
		}
		c.XORKeyStream(x.keyStream, x.keyStream)
	default:
		err = fmt.Errorf("inner stream %d is not supported", id)
	}
	return x, err
}

// crypt XORs with what comes next in the key stream. That is as long as the document, so it suffices.
func (x *content) crypt(b []byte) {
	for i := range b {
		b[i] ^= x.keyStream[i]
	}
	x.keyStream = x.keyStream[len(b):]
}

// What a program has to know of the XML.
type (
	xmlFile struct {
		XMLName    xml.Name `xml:"KeePassFile"`
		Generator  string   `xml:"Meta>Generator"`
		HeaderHash string   `xml:"Meta>HeaderHash,omitempty"` // up to version 3
		Root       xmlGroup `xml:"Root>Group"`
	}
	xmlGroup struct {
		UUID    string
		Name    string
		Entries []xmlEntry  `xml:"Entry"`
		Groups  []*xmlGroup `xml:"Group"`
	}
	xmlEntry struct {
		UUID    string
		Strings []xmlString `xml:"String"`
	}
	xmlString struct {
		Key   string
		Value xmlValue
	}
	xmlValue struct {
		Protected string `xml:",attr,omitempty"`
		Text      string `xml:",chardata"`
	}
)

// entries reads the document.
func (x *content) entries(h *header) ([]cli.Entry, error) {
	var file xmlFile
	plain := &plainTokens{x: x, d: xml.NewDecoder(bytes.NewReader(x.document))}
	if err := xml.NewTokenDecoder(plain).Decode(&file); err != nil {
		return nil, err
	}
	if h.major == 3 {
		sum := sha256.Sum256(h.raw)
		if file.HeaderHash != "" && file.HeaderHash != base64.StdEncoding.EncodeToString(sum[:]) {
			return nil, errChanged
		}
	}
	return file.Root.entries(nil, ""), nil
}

func (g *xmlGroup) entries(all []cli.Entry, path string) []cli.Entry {
	for _, e := range g.Entries {
		values := make(map[string]string)
		for _, s := range e.Strings {
			values[s.Key] = s.Value.Text
		}
		all = append(all, cli.Entry{Group: path, Title: values["Title"], User: values["UserName"], Password: values["Password"]})
	}
	for _, sub := range g.Groups {
		all = sub.entries(all, strings.TrimPrefix(path+"/"+sub.Name, "/"))
	}
	return all
}

// plainTokens are the tokens of a document, with what is protected decrypted.
type plainTokens struct {
	x         *content
	d         *xml.Decoder
	protected bool
}

func (p *plainTokens) Token() (xml.Token, error) {
	token, err := p.d.Token()
	switch t := token.(type) {
	case xml.StartElement:
		p.protected = slices.ContainsFunc(t.Attr, func(a xml.Attr) bool { return a.Name.Local == "Protected" && a.Value == "True" })
	case xml.EndElement:
		p.protected = false
	case xml.CharData:
		if p.protected {
			b, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(t)))
			p.x.crypt(b)
			return xml.CharData(b), err
		}
	}
	return token, err
}

// marshal returns a document with the entries, their passwords protected.
func marshal(entries []cli.Entry, streamKey []byte) ([]byte, error) {
	file := xmlFile{Generator: "twogather", Root: xmlGroup{UUID: uuid(), Name: "Root"}}
	for _, e := range entries {
		g := &file.Root
		if e.Group != "" {
			for name := range strings.SplitSeq(e.Group, "/") {
				g = g.sub(name)
			}
		}
		g.Entries = append(g.Entries, xmlEntry{uuid(), []xmlString{
			{"Title", xmlValue{Text: e.Title}}, {"UserName", xmlValue{Text: e.User}},
			{"Password", xmlValue{Protected: "True", Text: e.Password}}, {"URL", xmlValue{}}, {"Notes", xmlValue{}},
		}})
	}
	plain, err := xml.Marshal(file)
	if err != nil {
		return nil, err
	}
	x, err := newContent(plain, []byte{streamChaCha20}, streamKey) // enough key stream
	if err != nil {
		return nil, err
	}
	file.Root.protect(&x)
	document, err := xml.Marshal(file)
	return append([]byte(xml.Header), document...), err
}

// sub returns the group with a name in another one.
func (g *xmlGroup) sub(name string) *xmlGroup {
	i := slices.IndexFunc(g.Groups, func(s *xmlGroup) bool { return s.Name == name })
	if i < 0 {
		i, g.Groups = len(g.Groups), append(g.Groups, &xmlGroup{UUID: uuid(), Name: name})
	}
	return g.Groups[i]
}

// protect encrypts what is marked so, in the order in which Marshal writes it.
func (g *xmlGroup) protect(x *content) {
	for _, e := range g.Entries {
		for i, s := range e.Strings {
			if s.Value.Protected != "" {
				b := []byte(s.Value.Text)
				x.crypt(b)
				e.Strings[i].Value.Text = base64.StdEncoding.EncodeToString(b)
			}
		}
	}
	for _, sub := range g.Groups {
		sub.protect(x)
	}
}

func uuid() string { return base64.StdEncoding.EncodeToString(random(16)) }
