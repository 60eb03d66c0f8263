import BatchEngine
import Faults
import OperatingSystem
import Synchronization

/// Keys and values of prompts' beginnings in the cache folder, a file for each block, under a name made of the model
/// and the tokens.
///
/// All that goes wrong with them means computing again, never an error. For one thread at a time.
final class PrefixStore {
    private let folder: CacheFolder
    /// What keys and values depend on beside the tokens.
    private let text: () throws -> String
    /// Blocks that one run writes at most, in bytes.
    private let runLimit: Int
    /// The text and what tells it from others, once they are known; nil if they can't be.
    private lazy var origin: Origin? = findOrigin()
    /// Files that were there at the start, or were written since.
    private lazy var names = Set(((try? Files.names(in: folder.path)) ?? []).filter(folder.isFinished))
    private(set) var report = PrefixReport()
    /// Faults are told once.
    private var told: Set<String> = []

    private struct Origin {
        let text: String
        let hash: UInt64
    }

    /// - Parameters:
    ///   - cache: the cache folder.
    ///   - text: called when it is first needed.
    ///   - limit: bytes of all files together.
    ///   - reserve: bytes of the disk that are left free.
    init(
        cache: String, limit: Int = 8_000_000_000, runLimit: Int = 1_000_000_000,
        reserve: Int = 1_000_000_000, text: @escaping () throws -> String
    ) {
        folder = CacheFolder(
            path: cache + "/prefixes", mark: PrefixFile.mark, ending: "prefix", limit: limit, reserve: reserve
        )
        self.runLimit = runLimit
        self.text = text
    }

    /// The report since the last call.
    func takeReport() -> PrefixReport {
        defer { report = PrefixReport() }
        return report
    }

    /// - Parameter what: of two faults with the same one, the first is told.
    private func tell(_ what: String, _ fault: String) {
        if told.insert(what).inserted { report.faults.append(fault) }
    }

    private func findOrigin() -> Origin? {
        do {
            let text = "version \(PrefixFile.version)\n" + (try text())
            return Origin(text: text, hash: Array(text.utf8).withUnsafeBytes { BlockChecksum.of($0) })
        } catch {
            tell("origin", "\(error)")
            return nil
        }
    }

    // MARK: Names

    /// The hash of a block's name, from the block before it.
    static func hash(_ tokens: ArraySlice<Int32>, after hash: UInt64) -> UInt64 {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + 4 * tokens.count)
        withUnsafeBytes(of: hash.littleEndian) { bytes += $0 }
        for token in tokens { withUnsafeBytes(of: token.littleEndian) { bytes += $0 } }
        return bytes.withUnsafeBytes { BlockChecksum.of($0) }
    }

    /// The hash before the first block.
    private func start(_ origin: Origin, branch: Int) -> UInt64 {
        Self.hash([Int32(branch)], after: origin.hash)
    }

    private static func name(_ hash: UInt64) -> String { "kv-" + String(hash, radix: 16) + ".prefix" }

    private func head(_ origin: Origin, branch: Int, _ tokens: some Collection<Int32>) -> [UInt8] {
        PrefixFile.head(origin.text + "branch \(branch)\n", tokens)
    }

    // MARK: Reading

    private func openFolder() -> OwnFolder? {
        do throws(CacheFolder.Fault) { return try folder.open() } catch {
            tell(error.description, error.description)
            return nil
        }
    }

    /// How many of the blocks at these places, from the first on, there are files of.
    func count(of tokens: [Int32], places: Range<Int>, branch: Int) -> Int {
        guard !names.isEmpty, let origin else { return 0 }
        var hash = start(origin, branch: branch)
        for place in 0..<places.upperBound {
            hash = Self.hash(Self.block(place, of: tokens), after: hash)
            if place >= places.lowerBound, !names.contains(Self.name(hash)) {
                return place - places.lowerBound
            }
        }
        return places.count
    }

    private static func block(_ place: Int, of tokens: [Int32]) -> ArraySlice<Int32> {
        tokens[place * KVCache.blockLength..<(place + 1) * KVCache.blockLength]
    }

    /// Reads the blocks at these places.
    /// - Parameter memory: for each place.
    /// - Returns: how many, from the first on, are as they should be.
    func read(
        _ tokens: [Int32], places: Range<Int>, branch: Int, into memory: [UnsafeMutableRawBufferPointer],
        _ pool: ComputePool
    ) -> Int {
        guard let origin, let folder = openFolder() else { return 0 }
        let begin = ContinuousClock.now
        var hash = start(origin, branch: branch)
        let hashes = (0..<places.upperBound).map { place in
            hash = Self.hash(Self.block(place, of: tokens), after: hash)
            return hash
        }
        let own = hashes[places].map(Self.name)
        let outcomes = Mutex([PrefixFile.Outcome](repeating: .absent, count: places.count))
        nonisolated(unsafe) let memory = memory
        pool.run(places.count) { index in
            let end = (places.lowerBound + index + 1) * KVCache.blockLength
            let outcome = PrefixFile.read(
                own[index], in: folder, head: head(origin, branch: branch, tokens[..<end]),
                into: memory[index])
            outcomes.withLock { $0[index] = outcome }
        }
        let found = outcomes.withLock { $0 }
        for (name, outcome) in zip(own, found) where outcome != .read {
            names.remove(name)
            if case .unusable(let reason) = outcome { tell("read", reason) }
        }
        let good = found.prefix { $0 == .read }.count
        // The end first: what follows a missing block is of no use.
        for name in own.prefix(good).reversed() { Platform.touch(self.folder.path(of: name)) }
        report.readTokens += good * KVCache.blockLength
        report.readSeconds += (.now - begin).seconds
        return good
    }

    // MARK: Writing

    /// Writes blocks that are worth it and not there yet.
    /// - Parameters:
    ///   - prompts: how many there were in all.
    ///   - memory: of a block.
    func keep(
        _ beginnings: [KVBlocks.Beginning], prompts: Int, memory: (Int32) -> UnsafeMutableRawBufferPointer,
        until shouldStop: () -> Bool
    ) {
        guard beginnings.contains(where: { $0.place > 0 }), let origin else { return }
        var hashes: [UInt64] = []
        for beginning in beginnings {
            let before = beginning.previous.map { hashes[$0] } ?? start(origin, branch: beginning.branch)
            hashes.append(Self.hash(beginning.tokens, after: before))
        }
        let seen = SeenPrefixes(folder, origin: origin.text, hash: origin.hash)
        let chosen = PrefixChoice(prompts: prompts).chosen(beginnings) { seen.contains(hashes[$0]) }
        let bytes = memory(0).count
        let new = chosen.filter { !names.contains(Self.name(hashes[$0])) }.prefix(max(1, runLimit / bytes))
        do {
            if PrefixChoice.isFew(prompts) { try seen.add(hashes.prefix(SeenPrefixes.limit)) }
            guard !new.isEmpty else { return }
            try folder.prepare(for: new.count * bytes)
            for index in new where !shouldStop() {
                let (beginning, name) = (beginnings[index], Self.name(hashes[index]))
                let head = head(origin, branch: beginning.branch, beginnings.tokens(to: index))
                try folder.put(name) {
                    try PrefixFile.write(UnsafeRawBufferPointer(memory(beginning.block)), head: head, to: $0)
                }
                names.insert(name)
                report.writtenTokens += KVCache.blockLength
                report.writtenBytes += bytes
            }
            folder.removeUnused(but: Set(new.map { Self.name(hashes[$0]) }))
        } catch let failure as Platform.Failure {
            tell("write", "\(folder.path): \(failure.reason) (\(failure.call))")
        } catch {
            // It may have been told before, of the folder.
            tell("\(error)", "\(error)")
        }
    }
}

extension [KVBlocks.Beginning] {
    /// All tokens of a prompt to the end of a block.
    func tokens(to index: Int) -> [Int32] {
        var parts: [ArraySlice<Int32>] = []
        var next: Int? = index
        while let place = next {
            parts.append(self[place].tokens)
            next = self[place].previous
        }
        return parts.reversed().flatMap { $0 }
    }
}
