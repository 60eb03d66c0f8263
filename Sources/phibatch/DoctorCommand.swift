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
        let report = DoctorReport(
            machine: try MachineReport(), cache: WeightCacheLocation.standard(),
            hub: HubSettings())
        print(report.text)
    }
}

/// Text of `doctor`.
struct DoctorReport {
    let machine: MachineReport
    let cache: WeightCacheLocation
    let hub: HubSettings

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
            } else if let state = try? OpenFile.at(path).info() {
                (bytes, files) = (bytes + state.size, files + 1)
            }
        }
        return (bytes, files)
    }

    var text: String {
        var rows: [(String, String)] = [
            ("phibatch", MachineReport.identity), ("system", SystemName.current),
            ("version", Phibatch.version),
            ("processor", (machine.processor ?? "unknown") + (machine.family.map { ", \($0)" } ?? "")),
            ("kernels", "\(machine.chosen), of \(machine.kernels.joined(separator: ", "))"),
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
            ("memory", machine.memoryLimits.joined(separator: "; ")),
            ("speed", speed),
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

    private var threads: String {
        let (cores, nodes) = (machine.topology.cores.count, machine.topology.nodes.count)
        var text =
            "\(machine.threads), on \(machine.processors) processor\(machine.processors == 1 ? "" : "s")"
        if cores < machine.processors { text += " of \(cores) core\(cores == 1 ? "" : "s")" }
        if nodes > 1 { text += ", by \(nodes) memory nodes" }
        return machine.threads < cores ? text + "; a control group limits their time" : text
    }

    private var speed: String {
        guard let limits = machine.limits else { return "not measured: \(machine.unmeasured ?? "")" }
        return "\(rounded(limits.bytesPerSecond * 1e-9)) GB/s from memory, "
            + "\(rounded(limits.multiplyAddsPerSecond * 1e-9)) billion multiply-adds/s, at this moment"
    }

    private func free(at folder: String) -> String {
        DiskSpace.free(at: folder).map { "\(ModelFetch.size($0)) free" } ?? "free space unknown"
    }
}
