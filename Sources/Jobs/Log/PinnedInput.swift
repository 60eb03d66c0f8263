import JSON
import OperatingSystem

/// Part of an input that lies elsewhere, and the version of it that is read: kept in the log, so that a run that goes on
/// reads the same.
package struct PinnedInput: Sendable, Equatable {
    /// Place where an earlier run has noted it.
    package enum Origin: Sendable {
        /// Nowhere that counts: the run begins again.
        case nothing
        /// In the log of a run that is to go on. Otherwise what there is now is read.
        case unfinished
        /// There, or else beside a finished output: what its results were made of.
        case results
    }

    /// Without what would let others in.
    package var address: String
    package var version: String

    package init(_ input: DistantInput) {
        (address, version) = (Addresses.shown(input.address), input.version)
    }

    init?(_ json: JSONValue) {
        guard let address = json.string("address"), let version = json.string("version") else { return nil }
        (self.address, self.version) = (address, version)
    }

    func write(to writer: inout JSONWriter) {
        writer.string("address", address)
        writer.string("version", version)
    }

    /// Returns what an output's log says of its input.
    /// - Throws: `UserError` if a file beside the output can't be read.
    static func of(output: String, _ origin: Origin) throws -> [PinnedInput] {
        if origin == .nothing { return [] }
        let log = try OutputLog.find(of: output)
        if let begun = log?.begun { return begun.pins }
        return origin == .unfinished ? [] : log?.finished?.header.pins ?? []
    }
}
