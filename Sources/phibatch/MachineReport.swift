import FoundationShim
import OperatingSystem
import PhiModel

/// Facts of this machine that matter to the engine.
struct MachineReport: Sendable {
    /// The processor's own name; nil if the system doesn't say.
    let processor: String?
    /// As in "AMD family 25"; nil if processors have no families. The choice of kernels depends on it.
    let family: String?
    /// Names of all kernels that run here, best first.
    let kernels: [String]
    /// The kernels that a model would use.
    let chosen: String
    /// Processors that this process may run on, and threads that it would use: fewer if a control group limits the
    /// time.
    let processors: Int
    /// Their cores, which may have several processors each, and memory nodes.
    let topology: ProcessorTopology
    let threads: Int
    /// Bytes.
    let physicalMemory: Int
    /// Bytes that may still be taken, within all limits.
    let availableMemory: Int
    /// Limits of memory, each as the end of a sentence, such as "of the machine's 16.0 GB, 2.1 GB are free".
    let memoryLimits: [String]
    /// Measured limits; nil if `unmeasured` has a reason.
    let limits: MachineLimits?
    let unmeasured: String?

    /// Bytes that a thread reads.
    private static let probedBytes = 1 << 28

    /// Measures for a second.
    /// - Throws: `UserError` if `PHIBATCH_KERNELS` names kernels that this machine lacks.
    init() throws {
        let chosen = try Kernels.chosen()
        processor = ProcessorName.current
        family = Kernels.processorFamily
        kernels = Kernels.available.map(\.name)
        self.chosen = chosen.name
        processors = Processors.usable
        topology = .current
        threads = Processors.count
        physicalMemory = Int(clamping: ProcessInfo.processInfo.physicalMemory)
        let memory = AvailableMemory.limits()
        availableMemory = memory.map(\.bytes).min() ?? 0
        memoryLimits = Self.limiting(memory, physical: physicalMemory)
        // Only a part of the free memory, as other programs need it too.
        let most = availableMemory / 4 / Self.probedBytes
        guard most > 0 else {
            (limits, unmeasured) = (nil, "there is too little memory free")
            return
        }
        do {
            limits = try LimitProbe(kernels: chosen, threads: min(threads, most)).measure()
            unmeasured = nil
        } catch {
            (limits, unmeasured) = (nil, "\(error)")
        }
    }

    /// Control groups without a limit report one beyond any machine.
    static func limiting(_ memory: [AvailableMemory], physical: Int) -> [String] {
        let less = memory.filter { $0.bytes < physical }
        return (less.isEmpty ? Array(memory.prefix(1)) : less).map(\.reason)
    }

    /// Facts that results depend on besides model and job.
    static var identity: String {
        PhiEngine.identity(EngineOptions()).map { "\($0.name) \($0.value)" }.joined(separator: ", ")
    }
}
