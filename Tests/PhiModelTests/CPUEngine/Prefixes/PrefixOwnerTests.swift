import BatchEngine
import Foundation
import OperatingSystem
import Testing

@testable import PhiModel

/// What somebody else may have put into the cache changes no result, however well its sums fit.
@Suite struct PrefixOwnerTests {
    private static let isRoot = geteuid() == 0

    /// A file as whole as ours, with other values.
    private func forge(_ file: URL, _ engine: PhiEngine) throws {
        let whole = try Data(contentsOf: file)
        let size = engine.kvBytesPerToken * KVCache.blockLength
        let head = Array(whole.dropLast(size + 8))
        var values = Array(whole.suffix(size))
        for place in stride(from: 0, to: values.count, by: 2) { values[place] ^= 0x10 }
        try FileManager.default.removeItem(at: file)
        let new = try Platform.NewFile(path: file.path)
        try values.withUnsafeBytes { try PrefixFile.write($0, head: head, to: new) }
    }

    @Test func aForgedFileWithARightSumWouldBeTaken() throws {
        try withPrefixPlace { place in
            let expected = try place.run()
            for file in place.files { try forge(file, try place.engine()) }
            #expect(try place.run().bits != expected.bits, "else the tests below show nothing")
        }
    }

    @Test(.enabled(if: isRoot, "files are given to others by root alone"))
    func filesOfOthersAreNotUsed() throws {
        try withPrefixPlace { place in
            let expected = try place.run()
            for file in place.files {
                try forge(file, try place.engine())
                try #require(chown(file.path, 12_345, 12_345) == 0)
            }
            let found = try place.run()
            #expect(found.bits == expected.bits && found.cached == [0, 192])
            #expect(found.report.faults.count == 1)
            #expect(found.report.faults.first?.contains("belongs to another user (12345)") == true)
            // They were written anew.
            #expect(try place.run().cached == [192, 192])
        }
    }

    @Test(arguments: [0o620, 0o602, 0o666]) func filesThatOthersCanWriteAreNotUsed(mode: Int) throws {
        try withPrefixPlace { place in
            let expected = try place.run()
            for file in place.files {
                try forge(file, try place.engine())
                try #require(chmod(file.path, mode_t(mode)) == 0)
            }
            let found = try place.run()
            #expect(found.bits == expected.bits && found.cached == [0, 192])
            #expect(found.report.faults.count == 1)
            #expect(found.report.faults.first?.contains("its mode is \(String(mode, radix: 8))") == true)
        }
    }

    @Test(arguments: [0o777, 0o1777, 0o770]) func aFolderThatOthersCanWriteIsNotUsed(mode: Int) throws {
        try withPrefixPlace { place in
            let expected = try place.run()
            for file in place.files { try forge(file, try place.engine()) }
            let before = try place.files.map { try Data(contentsOf: $0) }
            try #require(chmod(place.prefixes.path, mode_t(mode)) == 0)
            let found = try place.run()
            #expect(found.bits == expected.bits && found.cached == [0, 192])
            #expect(found.report.faults.count == 1, "\(found.report.faults)")
            #expect(found.report.faults.first?.contains("chmod go-w") == true)
            #expect(try place.files.map { try Data(contentsOf: $0) } == before)
        }
    }

    @Test(.enabled(if: isRoot, "folders are given to others by root alone"))
    func foldersOfOthersAreNotUsed() throws {
        try withPrefixPlace { place in
            let expected = try place.run()
            try #require(chown(place.prefixes.path, 12_345, 12_345) == 0)
            // Also where a link leads to it.
            let own = place.top.appendingPathComponent("linked")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            try FileManager.default.createSymbolicLink(
                at: own.appendingPathComponent("prefixes"), withDestinationURL: place.prefixes)
            for cache in [place.cache, own] {
                let found = try place.run { $0.cache = .folder(cache.path) }
                #expect(found.bits == expected.bits && found.cached == [0, 192])
                #expect(found.report.faults.count == 1, "\(found.report.faults)")
                #expect(found.report.faults.first?.contains("another user") == true)
            }
        }
    }

    @Test func whatIsKeptIsNobodyElsesToReadOrWrite() throws {
        try withPrefixPlace { place in
            try place.run()
            for path in [place.prefixes.path] + place.files.map(\.path) {
                var status = stat()
                try #require(stat(path, &status) == 0)
                #expect(status.st_mode & 0o077 == 0, "\(path)")
            }
            #expect(try place.run().cached == [192, 192])
        }
    }
}
