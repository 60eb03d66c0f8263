import Foundation
import OperatingSystem
import TestSupport
import Testing

struct AtomicFileTests {
    private let temporary: TemporaryFolder
    private var top: String { temporary.path }

    init() throws { temporary = try TemporaryFolder() }

    @Test func aFileIsReplacedAtOnce() throws {
        let path = top + "/file"
        try Files.replaceContents(of: path, with: [1])
        try {
            let file = try AtomicFile(path, draft: path + ".draft")
            try file.write([2, 3])
            #expect(try Files.contents(of: path) == [1])
            #expect(FileLock.isFree(path + ".draft") == false)
            #expect(throws: SystemError.self) { try AtomicFile(path, draft: path + ".draft") }
            try file.moveIntoPlace()
        }()
        #expect(try Files.contents(of: path) == [2, 3])
        #expect(FileLock.isFree(path) == true && FileLock.isFree(path + ".draft") == nil)
    }

    @Test func aDraftGoesWithItsOwner() throws {
        _ = try AtomicFile(top + "/file", draft: top + "/draft")
        #expect(try Files.names(in: top).isEmpty)
        let error = #expect(throws: SystemError.self) {
            try AtomicFile(top + "/no/file", draft: top + "/no/draft")
        }
        #expect(error?.path == top + "/no/file" && error?.isNotFound == true)
    }

    @Test func aLockIsTakenOnce() throws {
        let folder = try OpenFolder(top)
        let lock = try FileLock.take("lock", in: folder)
        #expect(lock != nil)
        #expect(try FileLock.take("lock", in: folder) == nil)
        withExtendedLifetime(lock) {}
    }
}
