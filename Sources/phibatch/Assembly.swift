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

    private static func engineOptions(_ job: JobSettings) -> EngineOptions {
        var options = EngineOptions(cache: .standard())
        if case .count(let threads) = job.threads { options.threads = threads }
        options.kvPrecision = job.kvPrecision.engineValue
        switch job.kvBudget {
        case .auto: break
        case .bytes(let bytes): options.kvBudget = bytes
        case .share(let share):
            options.kvBudget = Int(Double(ProcessInfo.processInfo.physicalMemory) * share)
        }
        return options
    }

    static func loadModel(_ job: JobSettings, log: Logger) throws -> LoadedModel {
        let engine = try PhiEngine(folder: job.model, options: engineOptions(job))
        for note in engine.notes { log.warning("\(note)") }
        if let fault = engine.threadFault { log.notice("\(fault)") }
        if let fault = engine.cacheFault {
            log.notice("packed weights are not kept for the next start: \(fault)")
        }
        return LoadedModel(engine)
    }

    /// For what has no place beside an output: the cache folder, or memory where there is none.
    static var scratch: Scratch {
        .folder(WeightCacheLocation.standard().folder.map { $0 + "/scratch" })
    }

    static func openStore(
        _ job: JobSettings, restart: Bool, prunes: Bool, waits: Bool, stopFlag: StopFlag, log: Logger
    ) throws -> any ResultStore {
        let cache = WeightCacheLocation.standard()
        let identity = PhiEngine.identity(engineOptions(job))
        let fingerprint = try RunFingerprint(job: job, engine: identity, cache: cache) { bytes in
            guard bytes >= 1_000_000_000 else { return }
            let once = cache.folder == nil ? "" : "; it is known again next time"
            log.info("reading the model's files (\(bytes / 1_000_000) MB) to know the model\(once)")
        }
        guard job.output != "-" else {
            if restart { throw JobError(.usage, "--restart has no meaning with output -.") }
            if prunes { throw JobError(.usage, "--prune has no meaning with output -.") }
            return StreamStore(
                fingerprint: fingerprint, samples: job.samples, format: job.outputFormat.format,
                idScratch: scratch)
        }
        let waiting = OutputLock.Waiting(
            onWait: { holder in
                log.info(
                    "waiting for \(holder?.description ?? "another run"), which is writing \(job.output)")
            }, shouldStop: { stopFlag.isSet })
        let store = try JournalStore(
            output: job.output, fingerprint: fingerprint, samples: job.samples,
            format: job.outputFormat.format, restart: restart, prunes: prunes,
            keptOutputCount: job.keepOld, inputs: job.input.filter { $0 != "-" },
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
