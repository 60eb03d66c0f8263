import Errors
import Foundation
import OperatingSystem
import Testing

/// Hashes are of the whole content, and what is kept of them is never that of another content.
@Suite struct FileHashTests {
    /// A folder with one file, and a cache beside it.
    private final class Place {
        let folder: String
        var file: String { folder + "/weights" }
        var cache: String { folder + "/cache" }
        /// What the clock says; by default long after the file was written.
        var now: Int

        init(_ content: Data) throws {
            folder = FileManager.default.temporaryDirectory.path + "/phibatch-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            now = FileInfo.now + 3_600_000_000_000
            try content.write(to: URL(filePath: file))
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        /// - Returns: the hash, and how many bytes had to be read for it.
        func hash(_ path: String? = nil) throws -> (sha256: String, read: Int) {
            var read = 0
            let now = now
            let hashes = FileHashes(cache: cache, smallest: 1000, now: { now })
            let hash = try #require(try hashes.hashes(of: [path ?? file], willRead: { read += $0 }).first)
            return (hash.sha256, read)
        }

        var kept: [String] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: cache + "/hashes")) ?? []
            return names.sorted().map { cache + "/hashes/" + $0 }
        }
    }

    private static func sha256(_ data: Data) -> String {
        FileHash.hexadecimal(SHA.sha256(of: data))
    }

    private static let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })

    @Test func theSecondTimeNothingIsRead() throws {
        let place = try Place(Self.content)
        let expected = Self.sha256(Self.content)
        #expect(try place.hash() == (expected, Self.content.count))
        #expect(place.kept.count == 1)
        #expect(try place.hash() == (expected, 0))
        let link = place.folder + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: place.file)
        #expect(try place.hash(link) == (expected, 0))
        var read = 0
        let none = try FileHashes(cache: nil).hashes(of: [place.file, link], willRead: { read = $0 })
        #expect(none.map(\.sha256) == [expected, expected] && read == 2 * Self.content.count)
    }

    @Test func everyChangeIsSeen() throws {
        let place = try Place(Self.content)
        _ = try place.hash()
        var changed = Self.content
        changed[1_234_567] ^= 1
        // In place and with the old time of change, as `cp -p` or `rsync -t` leave it.
        let date = try #require(
            FileManager.default.attributesOfItem(atPath: place.file)[.modificationDate] as? Date)
        let handle = try FileHandle(forUpdating: URL(filePath: place.file))
        try handle.write(contentsOf: changed)
        try handle.close()
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: place.file)
        #expect(try place.hash() == (Self.sha256(changed), changed.count))
        #expect(try place.hash().read == 0)
        try Self.content.write(to: URL(filePath: place.file), options: .atomic)
        #expect(try place.hash().sha256 == Self.sha256(Self.content))
    }

    /// What moves the time of change alone, as a second name does, is no change of the content.
    @Test func aSecondNameIsNoChange() throws {
        let place = try Place(Self.content)
        let before = try File.regular(place.file).info()
        try FileManager.default.linkItem(atPath: place.file, toPath: place.folder + "/second")
        let after = try File.regular(place.file).info()
        #expect(after.hasContent(of: before))
        var longer = after
        longer.size += 1
        #expect(!longer.hasContent(of: before))
    }

    /// A second change within a tick of the clock that files are stamped by would not show.
    @Test func aFileJustChangedIsNotTrusted() throws {
        let place = try Place(Self.content)
        for age in [-5, 0, 1, 1_999_999_999] {
            place.now = try FileHash(of: .regular(place.file)).state.changed + age
            #expect(try place.hash().read == Self.content.count && place.kept.isEmpty, "\(age) ns after")
        }
        place.now += 2
        #expect(try place.hash().read == Self.content.count && place.kept.count == 1)
        #expect(try place.hash().read == 0)
    }

    @Test func damagedAndForeignEntriesAreNotBelieved() throws {
        let place = try Place(Self.content)
        let expected = try place.hash().sha256
        let entry = try #require(place.kept.first)
        let whole = try Data(contentsOf: URL(filePath: entry))
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x01
            try damaged.write(to: URL(filePath: entry))
            #expect(try place.hash().sha256 == expected)
        }
        for count in [0, 5, whole.count - 1] {
            try whole.prefix(count).write(to: URL(filePath: entry))
            #expect(try place.hash() == (expected, Self.content.count))
        }
        // One that does not begin as ours do, or is a link, stays as it is.
        let target = place.folder + "/target"
        for isLink in [false, true] {
            try? FileManager.default.removeItem(atPath: entry)
            try Data("somebody's".utf8).write(to: URL(filePath: isLink ? target : entry))
            if isLink {
                try FileManager.default.createSymbolicLink(atPath: entry, withDestinationPath: target)
            }
            #expect(try place.hash() == (expected, Self.content.count))
            #expect(try Data(contentsOf: URL(filePath: isLink ? target : entry)) == Data("somebody's".utf8))
            #expect(place.kept == [entry], "no drafts are left")
        }
        // Another file's entry under this name.
        try FileManager.default.removeItem(atPath: entry)
        let other = place.folder + "/other"
        try Self.content.dropLast().write(to: URL(filePath: other))
        _ = try place.hash(other)
        try FileManager.default.moveItem(atPath: try #require(place.kept.first), toPath: entry)
        #expect(try place.hash() == (expected, Self.content.count))
    }

    /// A forged entry would make a model of files that it isn't.
    @Test func whatOthersCouldHaveWrittenIsNotBelieved() throws {
        let place = try Place(Self.content)
        let expected = try place.hash().sha256
        let entry = try #require(place.kept.first)
        #expect(try place.hash().read == 0)
        for mode in [0o620, 0o602] as [mode_t] {
            try #require(chmod(entry, mode) == 0)
            #expect(try place.hash() == (expected, Self.content.count))
            // It was written anew.
            #expect(try place.hash().read == 0)
        }
        let folder = place.cache + "/hashes"
        #expect(FileHashes.fault(in: place.cache) == nil)
        try #require(chmod(folder, 0o777) == 0)
        #expect(try place.hash() == (expected, Self.content.count))
        #expect(FileHashes.fault(in: place.cache)?.reason.contains("its mode is 777") == true)
        try #require(chmod(folder, 0o700) == 0)
        guard geteuid() == 0 else { return }
        try #require(chown(entry, 12_345, 12_345) == 0)
        #expect(try place.hash() == (expected, Self.content.count))
        try #require(chown(folder, 12_345, 12_345) == 0)
        #expect(try place.hash() == (expected, Self.content.count))
        #expect(FileHashes.fault(in: place.cache)?.reason.contains("another user (12345)") == true)
    }

    @Test func aCacheThatCannotBeIsNoFault() throws {
        let place = try Place(Self.content)
        for cache in [place.file, place.file + "/under", "/proc/none"] {
            let hash = try FileHashes(cache: cache, smallest: 1).hashes(of: [place.file]).first
            #expect(hash?.sha256 == Self.sha256(Self.content))
        }
    }

    /// In Hugging Face's cache a model's files are links to `blobs/SHA-256`.
    @Test func aBlobMustHoldWhatItsNameSays() throws {
        let place = try Place(Data())
        let blobs = place.folder + "/blobs"
        let snapshot = place.folder + "/snapshots/main"
        for folder in [blobs, snapshot] {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        let expected = Self.sha256(Self.content)
        let blob = blobs + "/" + expected
        let link = snapshot + "/model.safetensors"
        try Self.content.write(to: URL(filePath: blob))
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "../../blobs/" + expected)
        #expect(try place.hash(link) == (expected, Self.content.count))
        #expect(try place.hash(link) == (expected, 0))
        try Self.content.dropLast().write(to: URL(filePath: blob))
        let error = #expect(throws: UserError.self) { try place.hash(link) }
        #expect(error?.place == link && error?.message.contains("Hugging Face cache") == true)
        // Small files there have other names, which promise nothing.
        let small = blobs + "/0123456789abcdef0123456789abcdef01234567"
        try Data("{}".utf8).write(to: URL(filePath: small))
        #expect(try place.hash(small).sha256 == Self.sha256(Data("{}".utf8)))
    }

    @Test func severalFilesKeepTheirOrder() throws {
        let place = try Place(Data())
        let contents = (0..<9).map { number in Data(repeating: UInt8(number), count: 1 + number * 300_000) }
        let paths = try contents.enumerated().map { number, content in
            let path = place.folder + "/part\(number)"
            try content.write(to: URL(filePath: path))
            return path
        }
        for threads in [1, 2, 20] {
            let found = try FileHashes(cache: nil).hashes(of: paths, threads: threads)
            #expect(found.map(\.sha256) == contents.map(Self.sha256))
        }
        for (path, reason) in [
            (place.folder + "/none", "can't be opened: No such file or directory."),
            (place.folder, "is not a regular file."),
        ] {
            let error = #expect(throws: UserError.self) {
                try FileHashes(cache: nil).hashes(of: [paths[0], path])
            }
            #expect(
                error?.place == path && error?.message == reason
                    && error?.isNotFound == (path != place.folder))
        }
    }
}
