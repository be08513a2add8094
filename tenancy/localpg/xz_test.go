package localpg

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// xzOf is the smallest xz file with this content, of at most 64 KiB: the standard library has no writer, and not every
// machine has the program. The content is stored, not compressed, and without a check.
func xzOf(content []byte) []byte {
	var b bytes.Buffer
	flags := []byte{0, 0}
	b.WriteString("\xfd7zXZ\x00")
	b.Write(flags)
	b.Write(checksum(flags))

	block := sealed([]byte{2, 0, 0x21, 1, 0x10}) // 12 bytes long, one filter: LZMA2 with its one property
	block = append(block, 1)                     // a first chunk that is stored
	block = binary.BigEndian.AppendUint16(block, uint16(len(content)-1))
	block = append(block, content...)
	block = append(block, 0) // no further chunk
	b.Write(padded(block))

	index := []byte{0, 1} // of one block
	index = binary.AppendUvarint(index, uint64(len(block)))
	index = binary.AppendUvarint(index, uint64(len(content)))
	index = sealed(index)
	b.Write(index)

	footer := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1))
	footer = append(footer, flags...)
	b.Write(checksum(footer))
	b.Write(footer)
	b.WriteString("YZ")
	return b.Bytes()
}

func checksum(data []byte) []byte {
	return binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(data))
}

// padded fills data up to a multiple of four bytes.
func padded(data []byte) []byte { return append(data, make([]byte, -len(data)&3)...) }

func sealed(data []byte) []byte {
	data = padded(data)
	return append(data, checksum(data)...)
}
