import BatchPipeline
import Foundation
import Foundations
import Logging
import PhiModel

/// Puts the parts of a run together as a job says.
enum Assembly {
    /// A look before anything is opened: is there a model at all?
    static func checkModelFolder(_ job: JobSettings) throws {
        guard Files.kind(of: job.model) == .folder else {
            throw ModelError(.missing, path: job.model, "there is no such model folder.")
        }
        guard Files.kind(of: Paths.join(job.model, "config.json")) != nil else {
            throw ModelError(.missing, path: job.model, "is no model folder: it has no config.json.")
        }
        try ModelFolder.checkLinks(job.model)
    }

    /// Another version of the arithmetic gives other results, and must not go on with the old ones.
    private static let arithmeticVersion = "5"

    static func loadModel(_ job: JobSettings, log: Logger) throws -> any BatchModel {
        var options = EngineOptions(cache: .standard())
        if case .count(let threads) = job.threads { options.threads = threads }
        options.kvPrecision = job.kvPrecision.engineValue
        switch job.kvBudget {
        case .auto: break
        case .bytes(let bytes): options.kvBudget = bytes
        case .share(let share):
            options.kvBudget = Int(Double(ProcessInfo.processInfo.physicalMemory) * share)
        }
        let engine = try PhiEngine(folder: job.model, options: options)
        if let fault = engine.cacheFault {
            log.notice("packed weights are not kept for the next start: \(fault)")
        }
        return engine
    }

    /// For what has no place beside an output: the cache folder, or memory where there is none.
    static var scratch: Scratch {
        guard case .folder(let folder) = WeightCacheLocation.standard() else { return .folder(nil) }
        return .folder(folder)
    }

    static func openStore(
        _ job: JobSettings, restart: Bool, waits: Bool, stopFlag: StopFlag, log: Logger
    ) throws -> any ResultStore {
        let fingerprint = try RunFingerprint(job: job, arithmetic: arithmeticVersion)
        guard job.output != "-" else {
            if restart { throw JobError(.usage, "--restart has no meaning with output -.") }
            return StreamStore(fingerprint: fingerprint, samples: job.samples, idScratch: scratch)
        }
        let waiting = OutputLock.Waiting(
            onWait: { holder in
                log.info(
                    "waiting for \(holder?.description ?? "another run"), which is writing \(job.output)")
            }, shouldStop: { stopFlag.isSet })
        let store = try JournalStore(
            output: job.output, fingerprint: fingerprint, samples: job.samples, restart: restart,
            waiting: waits ? waiting : nil)
        for note in store.notes { log.warning("\(note)") }
        if store.storedAtStart > 0 {
            log.info("\(store.storedAtStart) results of an earlier run are there")
        }
        return store
    }
}

extension CachePrecision {
    /// How the engine calls it.
    var engineValue: KVPrecision { resolved == .f16 ? .float16 : .int8 }
}
