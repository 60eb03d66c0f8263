import BatchPipeline
import Foundation
import Logging
import PhiModel

/// Puts the parts of a run together as a job says.
enum Assembly {
    /// A look before anything is opened: is there a model at all?
    static func checkModelFolder(_ job: JobSettings) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: job.model, isDirectory: &isFolder), isFolder.boolValue
        else {
            throw ModelError(.missing, path: job.model, "there is no such model folder.")
        }
        guard FileManager.default.fileExists(atPath: job.model + "/config.json") else {
            throw ModelError(.missing, path: job.model, "is no model folder: it has no config.json.")
        }
    }

    static func loadModel(_ job: JobSettings) throws -> any BatchModel {
        throw ModelError(.unsupported, path: job.model, "this build has no engine.")
    }

    static func openStore(
        _ job: JobSettings, restart: Bool, waits: Bool, stopFlag: StopFlag, log: Logger
    ) throws -> any ResultStore {
        throw JobError(.cannotWrite, at: job.output, "this build has no journal.")
    }
}
