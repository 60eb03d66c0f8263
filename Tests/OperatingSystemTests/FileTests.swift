import Errors
import Foundation
import OperatingSystem
import TestSupport
import Testing

struct FileTests {
    private let temporary: TemporaryFolder
    private var top: String { temporary.path }

    init() throws { temporary = try TemporaryFolder() }

    @Test func aFileIsReplacedAtOnce() throws {
        let path = top + "/file"
        try Files.replaceContents(of: path, with: [1])
        try {
            let file = try File.draft(path + ".draft")
            try file.write([2, 3])
            #expect(try Files.contents(of: path) == [1])
            #expect(Files.isUnlocked(path + ".draft") == false)
            #expect(throws: UserError.self) { try File.draft(path + ".draft") }
            try file.move(to: path)
        }()
        #expect(try Files.contents(of: path) == [2, 3])
        #expect(Files.isUnlocked(path) == true && Files.isUnlocked(path + ".draft") == nil)
    }

    @Test func aDraftGoesWithItsOwner() throws {
        _ = try File.draft(top + "/draft")
        #expect(try Files.names(in: top).isEmpty)
        let error = #expect(throws: UserError.self) { try File.draft(top + "/no/draft") }
        #expect(error?.place == top + "/no/draft" && error?.isNotFound == true)
    }

    @Test func aLockIsTakenOnce() throws {
        let folder = try OpenFolder(top)
        let lock = try folder.lock("lock")
        #expect(lock != nil)
        #expect(try folder.lock("lock") == nil)
        withExtendedLifetime(lock) {}
    }
}
