import JSON

/// Run under other settings whose results count beside those of the run at hand (`--if-changed keep`).
package struct AcceptedRun: Equatable {
    package var digest: String
    /// Nil if nobody knows any more.
    package var fingerprint: RunFingerprint?

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.string("run", digest)
            if let fingerprint { fingerprint.write(to: &writer) }
        }
    }
}

extension AcceptedRun {
    init?(_ json: JSONValue) {
        guard let digest = json.string("run"), digest.utf8.count <= RunFingerprint.maximumDigestLength else {
            return nil
        }
        self.init(digest: digest, fingerprint: json["fingerprint"].flatMap(RunFingerprint.init))
    }

    /// A member `kept` of a list of them; nothing if there are none.
    static func write(_ runs: [AcceptedRun], to writer: inout JSONWriter) {
        guard !runs.isEmpty else { return }
        writer.array("kept") { writer in for run in runs { run.write(to: &writer) } }
    }

    static func list(in json: JSONValue) -> [AcceptedRun] {
        guard case .array(let values)? = json["kept"] else { return [] }
        return values.compactMap(AcceptedRun.init)
    }
}

extension [AcceptedRun] {
    /// The fingerprint of one of these, or of the run beside them.
    func fingerprint(of digest: String, beside own: RunFingerprint) -> RunFingerprint? {
        if own.digest.utf8.elementsEqual(digest.utf8) { return own }
        return first { $0.digest.utf8.elementsEqual(digest.utf8) }?.fingerprint
    }
}

extension RunFingerprint {
    /// A member `fingerprint`: the parts as pairs.
    func write(to writer: inout JSONWriter) {
        writer.array("fingerprint") { writer in
            for part in parts {
                writer.array { writer in
                    writer.string(part.name)
                    writer.string(part.value)
                }
            }
        }
    }

    /// - Parameter json: the value of such a member.
    init?(_ json: JSONValue) {
        guard case .array(let elements) = json else { return nil }
        var parts: [(String, String)] = []
        for element in elements {
            guard case .array(let pair) = element, pair.count == 2, case .string(let name) = pair[0],
                case .string(let value) = pair[1]
            else { return nil }
            parts.append((name, value))
        }
        self.init(parts)
    }
}
