import OperatingSystem
import PhiModel

/// The small model that `make demo` fetches.
enum EmbeddedModel {
    private static let place = "models/smollm2-demo"

    /// Its folder: from the working directory on, or in the repository that the program was built in.
    /// - Throws: `ModelError` of kind `missing`, which says what to do.
    static func folder() throws -> String {
        for top in [".", builtIn].compactMap({ $0 }) {
            let folder = Paths.join(top, place)
            if Files.kind(of: Paths.join(folder, "config.json")) != nil { return folder }
        }
        throw ModelError(
            .missing,
            "the embedded model is not there (\(place)): \"make demo\" fetches it. Or name a model: phibatch chat MODEL."
        )
    }

    private static var builtIn: String? {
        guard let program = ProgramCall.executable, let end = program.ranges(of: "/.build/").last
        else { return nil }
        return String(program[..<end.lowerBound])
    }
}
