import BatchPipeline
import Errors
import ModelHub
import OperatingSystem

/// Brings inputs here that lie elsewhere.
extension ModelFetch {
    /// For commands that only look: what is here already.
    static let here = ModelFetch(console: Console(isQuiet: false), isOffline: true)

    /// - Throws: as `folder(_:path:)`.
    func folder(of job: JobSettings) throws -> String {
        try folder(job.modelName ?? job.model, path: job.model)
    }

    /// As `DistantInput.Bring` says.
    func bring(_ address: String, _ version: String?) throws -> DistantInput {
        let store = InputStore(cache: .standard(), settings: settings) { YAMLValues.json(of: $0) }
        let shown = Addresses.shown(address)
        let input = try fetched { try await store.bring(address, version: version, report: $0) }
        let files = counted(input.files.count, "file")
        if let version, input.version != version {
            console.warn(
                "\(shown): is not what the run began with (\(version)), which is not to be had any more. Lines that are another now are done again."
            )
        } else {
            console.say(
                "\(shown): \(files), version \(input.version)\(version == nil ? "" : " as the results have it")"
            )
        }
        return input
    }
}
