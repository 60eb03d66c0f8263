import ArgumentParser
import BatchEngine
import FoundationShim
import ModelHub
import OperatingSystem
import PhiModel

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Describe this machine, for a bug report.",
        discussion: """
            Shows processor, kernels, threads, memory and its limits, the speed of memory (measured for about a \
            second), the libraries of engines and of downloads, folders and the models in them. Shows no secrets.

            EXAMPLE:
              phibatch doctor
            """)

    func run() throws {
        print(try DoctorReport().text)
    }
}

/// Text of `doctor`.
struct DoctorReport {
    private let cache = WeightCacheLocation.standard()
    private let hub = HubSettings()
    private let kernels: Kernels

    /// - Throws: `UserError` if `PHIBATCH_KERNELS` names kernels that this machine lacks.
    init() throws { kernels = try Kernels.chosen() }

    /// Environment variables that affect phibatch, with their values.
    private static let variables = [
        "PHIBATCH_CACHE", "PHIBATCH_KERNELS", "PHIBATCH_MLX", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE",
        "HF_ENDPOINT", "HF_HUB_OFFLINE", "PHIBATCH_CURL", "PHIBATCH_ZSTD", "PHIBATCH_DUCKDB",
        "PHIBATCH_READLINE",
    ]

    /// Returns text about a library, or the reason why it can't be used.
    private static func found(_ text: () throws -> String) -> String {
        do { return try text() } catch { return "none: \(error)" }
    }

    /// Returns the bytes and the number of files in a folder and below; links are not followed.
    static func size(of folder: String) -> (bytes: Int, files: Int) {
        var (bytes, files) = (0, 0)
        for name in (try? Files.names(in: folder)) ?? [] {
            let path = Paths.join(folder, name)
            if Files.isLink(path) { continue }
            if Files.kind(of: path) == .folder {
                let below = size(of: path)
                (bytes, files) = (bytes + below.bytes, files + below.files)
            } else if let state = try? File.regular(path).info() {
                (bytes, files) = (bytes + state.size, files + 1)
            }
        }
        return (bytes, files)
    }

    /// Measures the speed for a second.
    var text: String {
        let memory = AvailableMemory.limits()
        let physical = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        let identity = PhiEngine.identity(EngineOptions()).map { "\($0.name) \($0.value)" }
            .joined(separator: ", ")
        var rows: [(String, String)] = [
            ("phibatch", identity), ("system", SystemName.current), ("version", Phibatch.version),
            (
                "processor",
                (ProcessorName.current ?? "unknown") + (Kernels.processorFamily.map { ", \($0)" } ?? "")
            ),
            ("kernels", "\(kernels.name), of \(Kernels.available.map(\.name).joined(separator: ", "))"),
        ]
        for entry in EngineEntry.all {
            guard let load = entry.library else { continue }
            let text = Self.found {
                let library = try load()
                return "\(library.version), \(library.device)"
            }
            rows.append((entry.kind.rawValue, text))
        }
        rows += [
            ("libcurl", Self.found { try Curl.load().version }), ("readline", LineEditor.version),
            ("threads", threads),
            ("memory", Self.limiting(memory, physical: physical).joined(separator: "; ")),
            ("speed", speed(within: memory.map(\.bytes).min() ?? 0)),
        ]
        switch cache {
        case .off: rows.append(("cache", "off"))
        case .unknown(let reason): rows.append(("cache", "none: \(reason)"))
        case .folder(let folder):
            let (bytes, files) = Self.size(of: folder)
            rows.append(
                (
                    "cache",
                    "\(folder): \(ModelFetch.size(bytes)) in \(files) files, \(free(at: folder)) "
                        + "(\"phibatch help files\" says what is in it)"
                ))
        }
        rows.append(("models", "\(hub.cacheFolder), \(free(at: hub.cacheFolder))"))
        // `models` reports unreadable ones.
        for model in (try? hub.cache.entries()) ?? [] where model.size > 0 {
            rows.append(
                ("", "\(model.id.name), \(ModelFetch.size(model.size))\(model.isComplete ? "" : ", not all")")
            )
        }
        rows.append(
            (
                "hub",
                hub.endpoint + (hub.isOffline ? ", offline" : "") + (hub.token == nil ? "" : ", with a token")
            ))
        for name in Self.variables {
            if let value = ProgramCall.path(inVariable: name) {
                rows.append(("variable", "\(name)=\(value)"))
            }
        }
        return listed(rows, width: 11)
    }

    /// Returns limits of memory, each as the end of a sentence. Control groups without a limit report one beyond any
    /// machine.
    static func limiting(_ memory: [AvailableMemory], physical: Int) -> [String] {
        let less = memory.filter { $0.bytes < physical }
        return (less.isEmpty ? Array(memory.prefix(1)) : less).map(\.reason)
    }

    private var threads: String {
        let (topology, threads, processors) = (
            ProcessorTopology.current, Processors.count, Processors.usable
        )
        let (cores, nodes) = (topology.cores.count, topology.nodes.count)
        var text = "\(threads), on \(processors) processor\(processors == 1 ? "" : "s")"
        if cores < processors { text += " of \(cores) core\(cores == 1 ? "" : "s")" }
        if nodes > 1 { text += ", by \(nodes) memory nodes" }
        return threads < cores ? text + "; a control group limits their time" : text
    }

    /// - Parameter available: bytes that may still be taken.
    private func speed(within available: Int) -> String {
        // Each thread reads 256 MB, of a part of the free memory only, as other programs need it too.
        let most = available / 4 / (1 << 28)
        guard most > 0 else { return "not measured: there is too little memory free" }
        do {
            let limits = try LimitProbe(kernels, ComputePool(threads: min(Processors.count, most)))
                .measure()
            return "\(rounded(limits.bytesPerSecond * 1e-9)) GB/s from memory, "
                + "\(rounded(limits.multiplyAddsPerSecond * 1e-9)) billion multiply-adds/s, at this moment"
        } catch { return "not measured: \(error)" }
    }

    private func free(at folder: String) -> String {
        DiskSpace.free(at: folder).map { "\(ModelFetch.size($0)) free" } ?? "free space unknown"
    }
}
