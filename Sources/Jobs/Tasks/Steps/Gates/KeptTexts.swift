import OperatingSystem

/// The texts of rows that a step let pass, so far as is needed to find one that is like another: not the texts.
struct KeptTexts {
    private enum Texts {
        /// Their digests, and the number of the row of each.
        case equal([[UInt8]: Int])
        case similar(SimilarTexts)
    }

    private var texts: Texts
    private var ids: [String] = []

    init(_ distinctness: Distinctness) {
        texts = distinctness.similarity.map { .similar(SimilarTexts(similarity: $0)) } ?? .equal([:])
    }

    /// Takes a text, unless there is one that is like it.
    /// - Parameter isKept: it passed in an earlier run, and stays.
    /// - Returns: the id of the first row whose text it is like; nil if it is taken.
    mutating func take(_ text: String, of id: String, isKept: Bool = false) -> String? {
        switch texts {
        case .equal(var known):
            texts = .equal([:])
            defer { texts = .equal(known) }
            let digest = SHA.sha256(of: text.utf8)
            if let number = known[digest] { return ids[number] }
            known[digest] = ids.count
        case .similar(var known):
            let signature = MinHash(text)
            if !isKept, let number = known.first(like: signature) { return ids[number] }
            texts = .equal([:])
            known.add(signature)
            texts = .similar(known)
        }
        ids.append(id)
        return nil
    }
}
