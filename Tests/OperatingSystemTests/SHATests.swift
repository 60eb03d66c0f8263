import OperatingSystem
import Testing

/// Hashes beside FIPS 180-4's examples, NIST's Monte Carlo test, and values of Python's hashlib.
@Suite struct SHATests {
    private static let bytes = (0..<1000).map { (index: Int) -> UInt8 in
        UInt8(truncatingIfNeeded: index * 7 + index * index / 251)
    }

    private static func text(_ start: SHA, _ bytes: some Sequence<UInt8>) -> String {
        var hash = start
        hash.update(bytes)
        return FileHash.hexadecimal(hash.finalize())
    }

    @Test func examplesOfTheStandard() {
        let long = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        let million = repeatElement(UInt8(ascii: "a"), count: 1_000_000)
        for (bytes, sha256, sha1) in [
            (
                [], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "da39a3ee5e6b4b0d3255bfef95601890afd80709"
            ),
            (
                Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "a9993e364706816aba3e25717850c26c9cd0d89d"
            ),
            (
                Array(long.utf8), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
            ),
            (
                Array(million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                "34aa973cd4c4daa4f61eeb2bdbad27316534016f"
            ),
        ] {
            #expect(Self.text(.sha256(), bytes) == sha256)
            #expect(Self.text(.sha1(), bytes) == sha1)
        }
    }

    /// The 100 checkpoints of SHA256Monte.rsp and SHA1Monte.rsp: the first and the last are written here.
    @Test(arguments: [
        (
            SHA.sha256(), "6d1e72ad03ddeb5de891e572e2396f8da015d899ef0e79503152d6010a3fe691",
            "e93c330ae5447738c8aa85d71a6c80f2a58381d05872d26bdd39f1fcd4f2b788",
            "6a912ba4188391a78e6f13d88ed2d14e13afce9db6f7dcbf4a48c24f3db02778"
        ),
        (
            SHA.sha1(), "dd4df644eaf3d85bace2b21accaa22b28821f5cd",
            "11f5c38b4479d4ad55cb69fadf62de0b036d5163",
            "01b7be5b70ef64843a03fdbb3b247a6278d2cbe1"
        ),
    ])
    func monteCarlo(start: SHA, seed: String, first: String, last: String) throws {
        let digits = try seed.map { try #require($0.hexDigitValue) }
        var value = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        for checkpoint in 0..<100 {
            var three = [value, value, value]
            for _ in 0..<1000 {
                var hash = start
                for bytes in three { hash.update(bytes) }
                three = [three[1], three[2], hash.finalize()]
            }
            value = three[2]
            if checkpoint == 0 { #expect(FileHash.hexadecimal(value) == first) }
        }
        #expect(FileHash.hexadecimal(value) == last)
    }

    /// One hash over the hashes of all beginnings of 1,000 bytes, as hashlib has them.
    @Test func everyLengthAsInPython() {
        let bytes = Self.bytes
        for (start, all) in [
            (SHA.sha256(), "3f182fe7330dec56f3cd1308f2780041101189be2adbdc1f80d9fae17689d2d0"),
            (SHA.sha1(), "3775e739ba72d4409c3b56ca751bc1695bc4b9d2"),
        ] {
            var over = start
            for count in 0...bytes.count {
                var hash = start
                hash.update(bytes[..<count])
                over.update(hash.finalize())
            }
            #expect(FileHash.hexadecimal(over.finalize()) == all)
        }
    }

    @Test func piecesAreAsTheWhole() {
        let bytes = Self.bytes
        let whole = SHA.sha256(of: bytes)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            var hash = SHA.sha256()
            var rest = bytes[...]
            var lengths: [Int] = []
            while !rest.isEmpty {
                let count = Int.random(in: 0...min(rest.count, 150), using: &random)
                lengths.append(count)
                // What has no storage in one piece goes the same way.
                if count % 2 == 0 {
                    hash.update(rest.prefix(count))
                } else {
                    hash.update(rest.lazy.prefix(count))
                }
                rest = rest.dropFirst(count)
                if count % 7 == 0 { _ = hash.finalize() }
            }
            #expect(hash.finalize() == whole, "\(lengths)")
        }
    }
}
