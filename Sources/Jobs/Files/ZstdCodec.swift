import CZstd
import Faults
import OperatingSystem

/// Packs and unpacks zstd (RFC 8878) with the system's libzstd.
final class ZstdCodec: PackingCodec {
    private let library: ZstdLibrary
    private let context: ZstdLibrary.Handle
    private let packs: Bool

    init(packs: Bool) throws(PackingFault) {
        library = try ZstdLibrary.load()
        self.packs = packs
        guard let context = packs ? library.makePacker() : library.makeUnpacker() else { throw .noMemory }
        self.context = context
        // As zstd(1) does, so that damage shows.
        if packs { _ = library.set(context, Int32(PHI_ZSTD_CHECKSUM.rawValue), 1) }
    }

    deinit { _ = packs ? library.freePacker(context) : library.freeUnpacker(context) }

    func step(
        _ bytes: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer, isLast: Bool
    ) throws(PackingFault) -> CodecStep {
        var input = PhiZstdInput(bytes: bytes.baseAddress, size: bytes.count, position: 0)
        var output = PhiZstdOutput(bytes: buffer.baseAddress, size: buffer.count, position: 0)
        let directive = isLast ? PHI_ZSTD_END : PHI_ZSTD_CONTINUE
        let left =
            packs
            ? library.pack(context, &output, &input, Int32(directive.rawValue))
            : library.unpack(context, &output, &input)
        if library.isError(left) != 0 { throw .damaged(String(cString: library.errorName(left))) }
        // What is left to write or, at the least, to read.
        return CodecStep(
            taken: input.position, made: output.position, isWhole: left == 0 && (isLast || !packs))
    }
}

/// The system's libzstd, loaded once it is needed.
package final class ZstdLibrary: Sendable {
    typealias Handle = UnsafeMutableRawPointer
    typealias Output = UnsafeMutablePointer<PhiZstdOutput>
    typealias Input = UnsafeMutablePointer<PhiZstdInput>

    let makePacker: @convention(c) () -> Handle?
    let freePacker: @convention(c) (Handle) -> Int
    let set: @convention(c) (Handle, Int32, Int32) -> Int
    let pack: @convention(c) (Handle, Output, Input, Int32) -> Int
    let makeUnpacker: @convention(c) () -> Handle?
    let freeUnpacker: @convention(c) (Handle) -> Int
    let unpack: @convention(c) (Handle, Output, Input) -> Int
    let isError: @convention(c) (Int) -> UInt32
    let errorName: @convention(c) (Int) -> UnsafePointer<CChar>

    private static let shared = Result { () throws(PackingFault) in
        try ZstdLibrary(named: ProgramCall.path(inVariable: "PHIBATCH_ZSTD"))
    }

    /// - Throws: `PackingFault.missing`, which says how to get it.
    static func load() throws(PackingFault) -> ZstdLibrary { try shared.get() }

    /// - Parameter name: the library's; nil for the system's.
    init(named name: String?) throws(PackingFault) {
        let found = LoadedLibrary.open(
            name ?? (LoadedLibrary.suffix == "dylib" ? "libzstd.1.dylib" : "libzstd.so.1"))
        let advice: Message =
            name == nil
            ? "Install the package libzstd1 (on Debian and Ubuntu; libzstd elsewhere), or take gzip."
            : "PHIBATCH_ZSTD names it."
        guard let library = found.library else {
            throw .missing("needs libzstd, which can't be loaded (\(found.reason)). \(advice)")
        }
        func function<Function>(_ name: String) throws(PackingFault) -> Function {
            guard let found = library.symbol(name) else {
                throw .missing("needs libzstd 1.4 or newer, and the one here has no \(name). \(advice)")
            }
            return unsafeBitCast(found, to: Function.self)
        }
        makePacker = try function("ZSTD_createCCtx")
        freePacker = try function("ZSTD_freeCCtx")
        set = try function("ZSTD_CCtx_setParameter")
        pack = try function("ZSTD_compressStream2")
        makeUnpacker = try function("ZSTD_createDCtx")
        freeUnpacker = try function("ZSTD_freeDCtx")
        unpack = try function("ZSTD_decompressStream")
        isError = try function("ZSTD_isError")
        errorName = try function("ZSTD_getErrorName")
    }
}
