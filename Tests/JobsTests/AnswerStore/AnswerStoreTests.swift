import BatchEngine
import Errors
import Foundation
import OperatingSystem
import TestSupport
import Testing

@testable import Jobs

/// The folder of answers: what is found in it again, and that nothing else is.
@Suite struct AnswerStoreTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The first so many are found, and the others aren't.
    private func isThere(_ count: Int, of made: [MadeAnswer], in store: AnswerStore) -> Bool {
        made.enumerated().allSatisfy { store.find($1.key) == ($0 < count ? $1.record : nil) }
    }

    @Test func answersAreFoundAgain() throws {
        let made = try (0..<50).map { try MadeAnswer($0, length: 1 + $0 * 40) }
        let store = try AnswerStore(folder.path + "/a/answers")
        for answer in made[..<40] {
            #expect(store.find(answer.key) == nil)
            #expect(answer.add(to: store))
        }
        store.flush()
        #expect(isThere(40, of: made, in: store))
        for answer in made[40...] { answer.add(to: store) }
        store.close()
        #expect(!made[0].add(to: store))
        let again = try AnswerStore(folder.path + "/a/answers")
        #expect(isThere(50, of: made, in: again))
        #expect(again.index.count == 50 && again.damaged == 0)
        #expect(!made[0].add(to: again))
        again.close()
        // Who adds nothing makes no file.
        #expect(try folder.segments("a/answers").count == 1)
    }

    /// Each may be killed at any place: what is whole is found, and nothing else.
    @Test func halfASegmentHasWholeAnswers() throws {
        let made = try (0..<4).map { try MadeAnswer($0) }
        let store = try AnswerStore(folder.path + "/answers")
        for answer in made { answer.add(to: store) }
        store.close()
        let (path, bytes) = try folder.segments()[0]
        let ends = bytes.indices.filter { bytes[$0] == 0x0A }
        #expect(ends.count == 5)
        for count in 0...bytes.count {
            try Data(bytes[..<count]).write(to: URL(fileURLWithPath: path))
            let store = try AnswerStore(folder.path + "/answers")
            let whole = max(0, ends.count { $0 < count } - 1)
            #expect(isThere(whole, of: made, in: store), "\(count)")
            #expect(store.damaged == 0)
        }
    }

    @Test func noFlippedBitMakesAWrongAnswer() throws {
        let made = try (0..<3).map { try MadeAnswer($0) }
        let first = try AnswerStore(folder.path + "/answers")
        for answer in made { answer.add(to: first) }
        first.close()
        let (path, bytes) = try folder.segments()[0]
        var (lost, damaged) = (0, 0)
        for place in bytes.indices {
            var bytes = bytes
            bytes[place] ^= 1 << UInt8(place % 8)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            let store = try AnswerStore(folder.path + "/answers")
            for answer in made {
                let found = store.find(answer.key)
                #expect(found == nil || found == answer.record, "byte \(place)")
                if found == nil { lost += 1 }
            }
            damaged += store.damaged
        }
        // A byte of a record costs that one, or, as a line feed, the next; one of the head costs all.
        #expect(lost >= bytes.count && lost < bytes.count + 3 * AnswerStore.head.count)
        #expect(damaged > bytes.count / 2)
    }

    /// What was not as it was written is computed and added anew.
    @Test func damageIsReplaced() throws {
        let answer = try MadeAnswer(1)
        let first = try AnswerStore(folder.path + "/answers")
        answer.add(to: first)
        first.close()
        var (path, bytes) = try folder.segments()[0]
        bytes[AnswerStore.head.count + 110] ^= 1
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        // Where a request has two answers, that of the newer segment counts.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: path)
        var told: [String] = []
        let second = try AnswerStore(folder: folder.path + "/answers", limit: 1 << 20, reserve: 0) {
            told.append($0.text)
        }
        #expect(second.find(answer.key) == nil && second.damaged == 1)
        #expect(answer.add(to: second))
        second.close()
        #expect(
            told.count == 1
                && told[0].contains("1 answer could not be used"))
        #expect(try AnswerStore(folder.path + "/answers").find(answer.key) == answer.record)
    }

    /// One that was computed again and is another one is taken by nobody any more, and the others are.
    @Test func wrongAnswersAreRemoved() throws {
        let made = try (0..<4).map { try MadeAnswer($0) }
        let first = try AnswerStore(folder.path + "/answers")
        for answer in made[..<3] { answer.add(to: first) }
        first.close()
        let store = try AnswerStore(folder.path + "/answers")
        #expect(store.verify(made[0].key, against: made[0].record) == .right)
        #expect(store.verify(made[3].key, against: made[3].record) == .unknown)
        var other = made[1].record
        other.provenance = [:]
        for (answer, computed) in [(made[1], other), (made[2], nil)] {
            let told =
                "\(folder.path)/answers: the answer \(answer.key.text) is not what the model gives, and is removed"
            #expect(store.verify(answer.key, against: computed) == .wrong(Message(value: told)))
            #expect(store.verify(answer.key, against: answer.record) == .unknown)
        }
        let again = try AnswerStore(folder.path + "/answers")
        #expect(isThere(1, of: made, in: again) && again.index.count == 1)
        let locked = try AnswerStore(
            folder: folder.path + "/answers", limit: 1 << 20, reserve: 0,
            system: FaultyFileSystem(refusing: [.write: EACCES]))
        guard case .wrong(let told) = locked.verify(made[0].key, against: nil) else {
            Issue.record("no wrong answer is found")
            return
        }
        #expect(told.text.contains("and can't be removed: "), "\(told)")
    }

    /// A record found by the first bytes of another key is no answer to that.
    @Test func theWholeKeyCounts() throws {
        let (one, other) = (try MadeAnswer(1), try MadeAnswer(2))
        var record = one.record
        record.key = String(other.key.text.prefix(16) + one.key.text.dropFirst(16))
        _ = try folder.write(AnswerStore.head + record.line + [0x0A], to: "one.answers")
        let store = try AnswerStore(folder.path)
        #expect(store.index.count == 1 && store.find(other.key) == nil && store.damaged == 1)
    }

    @Test func writersDontDisturbOneAnother() throws {
        let path = folder.path + "/answers"
        let made = try (0..<300).map { try MadeAnswer($0) }
        // All are there before one writes: none finds the others' answers.
        nonisolated(unsafe) let stores = try (0..<3).map { _ in try AnswerStore(path) }
        onThreads(3, count: 3) { number in
            let store = stores[number]
            for (place, answer) in made.enumerated() where place % 4 != number {
                answer.add(to: store)
                if place % 7 == number { store.flush() }
            }
            store.close()
        }
        #expect(try folder.segments().count == 3)
        let store = try AnswerStore(path)
        #expect(made.allSatisfy { store.find($0.key) == $0.record })
        #expect(store.index.count == 300 && store.damaged == 0)
    }

    /// What others add is there for those who begin later, also of writers that live.
    @Test func livingWritersAreRead() throws {
        let (one, other) = (try MadeAnswer(1), try MadeAnswer(2))
        let writer = try AnswerStore(folder.path)
        one.add(to: writer)
        writer.flush()
        let reader = try AnswerStore(folder.path)
        other.add(to: writer)
        #expect(reader.find(one.key) == one.record && reader.find(other.key) == nil)
        writer.close()
        #expect(try AnswerStore(folder.path).find(other.key) == other.record)
    }

    // MARK: Bounds

    @Test func theOldestGoFirst() throws {
        let limit = 100_000
        let size = try MadeAnswer(0, length: 50).record.line.count
        for run in 0..<60 {
            let store = try AnswerStore(folder.path + "/answers", limit: limit)
            for number in 0..<20 { try MadeAnswer(run * 20 + number, length: 50).add(to: store) }
            store.close()
            let bytes = try folder.segments().reduce(0) { $0 + $1.bytes.count }
            #expect(bytes <= limit, "\(run)")
        }
        #expect(60 * 20 * size > 4 * limit)
        let store = try AnswerStore(folder.path + "/answers", limit: limit)
        #expect(store.index.count > limit / size / 2)
        #expect(store.find(try MadeAnswer(1199, length: 50).key) != nil)
        #expect(store.find(try MadeAnswer(0, length: 50).key) == nil)
    }

    /// A long run has several segments, so that the oldest can go while it goes on.
    @Test func aRunIsBoundedItself() throws {
        let limit = 200_000
        let store = try AnswerStore(folder.path + "/answers", limit: limit)
        for number in 0..<2000 {
            try MadeAnswer(number, length: 50).add(to: store)
            if number % 20 == 0 { store.flush() }
        }
        store.close()
        let segments = try folder.segments()
        #expect(segments.reduce(0) { $0 + $1.bytes.count } <= limit && segments.count > 3)
        // What went is not found, and no damage.
        #expect(store.find(try MadeAnswer(1, length: 50).key) == nil && store.damaged == 0)
    }

    // MARK: Folders that can't be used

    @Test func whatCannotBeWrittenIsSaidOnce() throws {
        let answers = try (0..<5).map { try MadeAnswer($0) }
        let first = try AnswerStore(folder.path)
        answers[0].add(to: first)
        first.close()
        for (path, system) in [
            ("/dev/fd", FileSystem.real),
            (folder.path, FaultyFileSystem(refusing: [.write: ENOSPC])),
        ] {
            var told: [Message] = []
            let store = try AnswerStore(folder: path, limit: 1 << 20, reserve: 0, system: system) {
                told.append($0)
            }
            for answer in answers[1...] {
                answer.add(to: store)
                store.flush()
            }
            #expect(told.count { $0.text.hasPrefix("no more answers are added to \(path): ") } == 1)
            if path == folder.path { #expect(store.find(answers[0].key) == answers[0].record) }
            store.close()
        }
        // Half a record is none.
        let store = try AnswerStore(folder.path)
        #expect(answers.map { store.find($0.key) != nil } == [true, false, false, false, false])
    }

    @Test func littleRoomIsLeftAlone() throws {
        var told: [Message] = []
        let store = try AnswerStore(folder: folder.path, limit: 1 << 20, reserve: .max) { told.append($0) }
        try MadeAnswer(1).add(to: store)
        store.close()
        #expect(told.count == 1 && told[0].text.contains("MB left"))
        #expect(try AnswerStore(folder.path).index.count == 0)
    }

    @Test func noFolderIsAnError() throws {
        let file = try folder.write("", to: "file")
        #expect(throws: UserError.self) { try AnswerStore(file) }
        #expect(throws: UserError.self) { try AnswerStore(file + "/below") }
        var job = JobSettings.test(input: [])
        job.answers = file
        #expect(throws: UserError(.badJob, at: file, "is not a folder, so answers can't be kept there.")) {
            try job.checkAnswerStore()
        }
    }

    @Test func aFolderOfEverybodysIsToldOf() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        var told: [Message] = []
        _ = try AnswerStore(folder: folder.path, limit: 1, reserve: 0) { told.append($0) }
        #expect(told.count == 1 && told[0].text.contains("everybody can write"))
        try FileManager.default.setAttributes([.posixPermissions: 0o775], ofItemAtPath: folder.path)
        _ = try AnswerStore(folder: folder.path, limit: 1, reserve: 0) { told.append($0) }
        #expect(told.count == 1)
    }

    /// Other files, links and segments of later versions stay and count for nothing.
    @Test func whatIsNoSegmentIsLeftAlone() throws {
        let answer = try MadeAnswer(1)
        let first = try AnswerStore(folder.path)
        answer.add(to: first)
        first.close()
        let (path, bytes) = try folder.segments("")[0]
        _ = try folder.write(bytes, to: "notes.txt")
        var later = String(decoding: bytes, as: UTF8.self)
        later.replace("\"phibatch_answers\":1", with: "\"phibatch_answers\":2")
        _ = try folder.write(later, to: "later.answers")
        try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/moved")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link.answers", withDestinationPath: folder.path + "/moved")
        try FileManager.default.createDirectory(
            atPath: folder.path + "/folder.answers", withIntermediateDirectories: true)
        let store = try AnswerStore(folder.path)
        #expect(store.index.count == 0 && store.find(answer.key) == nil && store.damaged == 0)
    }
}
