import BatchPipeline
import Faults
import ModelHub
import OperatingSystem

/// Brings inputs here that lie elsewhere.
struct InputFetch {
    let console: Console
    private let fetch: ModelFetch

    /// - Parameter isOffline: nothing may be fetched, whatever the environment says.
    init(console: Console, isOffline: Bool) {
        self.console = console
        fetch = ModelFetch(console: console, isOffline: isOffline)
    }

    /// For commands that only look: what is here already.
    static let here = InputFetch(console: Console(isQuiet: false), isOffline: true)

    /// As `DistantInput.Bring` says.
    func bring(_ address: String, _ version: String?) throws -> DistantInput {
        let store = InputStore(cache: .standard(), settings: fetch.settings) { YAMLValues.json(of: $0) }
        let shown = Addresses.shown(address)
        let input = try fetch.fetched { try await store.bring(address, version: version, report: $0) }
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
