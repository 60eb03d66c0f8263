import BatchPipeline
import Errors
import JSON
import ModelHub
import OperatingSystem

/// Fetches remote inputs.
extension ModelFetch {
    /// For commands that only look at files on this machine.
    static let here = ModelFetch(console: Console(isQuiet: false), isOffline: true)

    /// - Throws: the errors of `folder(_:path:)`.
    func folder(of job: JobSettings) throws -> String {
        try folder(job.modelName ?? job.model, path: job.model)
    }

    /// Fetches an input; see `DistantInput.Bring`.
    func bring(_ address: String, _ version: String?) throws -> DistantInput {
        let shown = Addresses.shown(address)
        let input = try fetched { client in
            let store = InputStore(cache: .standard(), client) { JSONValue(yaml: $0) }
            return try store.bring(address, version: version)
        }
        let files = counted(input.files.count, "file")
        if let version, input.version != version {
            console.warn(
                "\(shown): has changed since the run began (\(version)), and that version is gone. Changed lines are done again."
            )
        } else {
            console.say(
                "\(shown): \(files), version \(input.version)\(version == nil ? "" : " as the results have it")"
            )
        }
        return input
    }
}
