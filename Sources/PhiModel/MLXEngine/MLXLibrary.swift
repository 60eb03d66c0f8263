import CMLX
import FoundationShim
import OperatingSystem

/// Apple's array library MLX, loaded on first use: `make mlx` puts it beside the program.
package final class MLXLibrary: Sendable {
    /// The version that this program is written for. `make mlx` fetches it.
    package static let wantedVersion = PHI_MLX_VERSION

    nonisolated(unsafe) let functions: UnsafePointer<PhiMLX>
    /// The device, as in "cpu" or "gpu Apple M4 Max".
    package let device: String
    package let isGPU: Bool
    /// MLX allows one caller at a time, however many engines there are.
    private let turn = Mutex()

    private static let folderName = "phibatch-mlx"
    private static let fileName = "libphibatch-mlx." + LoadedLibrary.suffix
    private static let shared = Result { () throws(UserError) in try MLXLibrary(path: find()) }

    /// Returns the library, loaded once.
    /// - Throws: `UserError`: `missing` if it is not installed, with the way to get it; `unsupported` if it is of
    ///   another version or can't be loaded.
    package static func load() throws(UserError) -> MLXLibrary { try shared.get() }

    /// Reason why an installed library can't be used; nil if it can, or there is none.
    package static var fault: UserError? {
        guard case .failure(let error) = shared, error.kind != .missing || named != nil else { return nil }
        return error
    }

    private static var named: String? {
        ProcessInfo.processInfo.environment["PHIBATCH_MLX"].flatMap { $0.isEmpty ? nil : $0 }
    }

    private init(path: String) throws(UserError) {
        let library: LoadedLibrary
        do { library = try LoadedLibrary.open(path) } catch {
            throw UserError(.unsupported, at: path, "can't be loaded: \(error.what). Run \"make mlx\" again.")
        }
        guard let start = library.symbol(PHI_MLX_START),
            let functions = unsafeBitCast(start, to: PhiMLXStart.self)()
        else { throw UserError(.unsupported, at: path, "MLX does not start on this machine.") }
        // If this differs, nothing after it is valid.
        let interface = functions.pointee.interface_version
        guard interface == UInt32(PHI_MLX_INTERFACE) else {
            throw UserError(
                .unsupported, at: path,
                "was made for another version of phibatch (interface \(Int(interface)), not \(Int(PHI_MLX_INTERFACE))). Run \"make mlx\" again."
            )
        }
        for text in [functions.pointee.version, functions.pointee.compiled_version] {
            let version = String(cString: text)
            guard version == Self.wantedVersion else {
                throw UserError(
                    .unsupported, at: path,
                    "is MLX \(version); \(Self.wantedVersion) is needed. Run \"make mlx\" again.")
            }
        }
        self.functions = functions
        device = String(cString: functions.pointee.device)
        isGPU = functions.pointee.is_gpu != 0
    }

    /// Returns the path that PHIBATCH_MLX names, or the library beside the program or in an installation.
    private static func find() throws(UserError) -> String {
        if let named {
            let path = Files.kind(of: named) == .folder ? Paths.join(named, fileName) : named
            guard Files.kind(of: path) == .regular else {
                throw UserError(
                    .missing, at: path, "there is no such file, and PHIBATCH_MLX names it.")
            }
            return path
        }
        let program = ProgramCall.executable ?? ""
        let folder = Paths.folder(of: program)
        for top in [folder, Paths.join(Paths.folder(of: folder), "lib")] {
            let path = Paths.join(Paths.join(top, folderName), fileName)
            if Files.kind(of: path) == .regular { return path }
        }
        throw UserError(
            .missing, at: folder,
            "MLX is not there: \"make mlx\" fetches it and puts it beside the program; or leave \"engine: mlx\" out."
        )
    }

    /// Calls `body` while nobody else uses MLX.
    func use<Value>(_ body: () throws -> Value) rethrows -> Value { try turn.withLock(body) }

    /// Computes these arrays.
    /// - Throws: `UserError` of kind `resources` with MLX's own message for a failure since the last call.
    func evaluate(_ arrays: [MLXArray]) throws(UserError) {
        let status = withExtendedLifetime(arrays) {
            functions.pointee.eval(arrays.map(\.handle), Int32(arrays.count))
        }
        let reason = functions.pointee.error().map { String(cString: $0) }
        guard status == 0, reason == nil else {
            throw UserError(.resources, "MLX failed: \(reason ?? "unknown error")")
        }
    }

    // MARK: Memory

    /// Bytes of all arrays, now and at their peak.
    package var memory: (active: Int, peak: Int) {
        (functions.pointee.active_memory(), functions.pointee.peak_memory())
    }

    package func resetPeakMemory() { functions.pointee.reset_peak_memory() }

    /// - Parameters:
    ///   - total: bytes of all arrays.
    ///   - cache: bytes of freed buffers to keep for reuse.
    func limitMemory(total: Int, cache: Int) {
        _ = functions.pointee.set_memory_limit(total)
        _ = functions.pointee.set_cache_limit(cache)
    }
}
