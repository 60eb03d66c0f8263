import JSON
import TestSupport
import Testing

struct UTF8Tests {
    /// Repair agrees with Swift's own, however the bytes are cut.
    @Test func repairsUTF8() {
        var generator = FixedRandom(1)
        let interesting: [UInt8] = [
            0x41, 0x80, 0xBF, 0xA0, 0x90, 0xC3, 0xC0, 0xE0, 0xED, 0xE6, 0xF0, 0xF4, 0xFF,
        ]
        for _ in 0..<3000 {
            let bytes = (0..<8).map { _ in interesting.randomElement(using: &generator) ?? 0 }
            var repair = UTF8Repair()
            var output: [UInt8] = []
            for byte in bytes { repair.feed([byte], into: &output) }
            repair.finish(into: &output)
            #expect(output == Array(String(decoding: bytes, as: UTF8.self).utf8), "\(bytes)")
        }
    }
}
