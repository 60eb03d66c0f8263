/// Finds similar texts by signatures of 256 bytes, which estimate the similarity of two texts (MinHash).
///
/// The similarity is Jaccard's: the share of all pieces of five characters in two texts that both have, ignoring case
/// and the length of white space. A signature has the smallest hash of the text's pieces for each of 128 hash
/// functions; the share of equal ones in two signatures estimates the similarity, with a standard error of at most
/// 0.045 (Broder, "On the resemblance and containment of documents", 1997).
///
/// Not all are compared: only pairs that agree in some band of functions (Indyk and Motwani, 1998).
struct SimilarTexts {
    static let functions = 128
    private static let pieceLength = 5

    private let least: Int
    /// Functions in a band: as many as find a pair at the threshold with a probability of 0.999.
    private let width: Int
    private let bands: Int
    /// The signatures, one after the other.
    private var values: [UInt16] = []
    /// The latest text for each content of a band, and the one before for each text and band; from 1.
    private var latest: [UInt64: UInt32] = [:]
    private var before: [UInt32] = []

    init(similarity: Double) {
        least = Int((similarity * Double(Self.functions)).rounded(.up))
        func finds(_ width: Int) -> Bool {
            var (agree, miss) = (1.0, 1.0)
            for _ in 0..<width { agree *= similarity }
            for _ in 0..<Self.functions / width { miss *= 1 - agree }
            return miss <= 0.001
        }
        width = (1...32).last(where: finds) ?? 1
        bands = Self.functions / width
    }

    private func content(_ band: Int, of text: [UInt16]) -> UInt64 {
        text[band * width..<(band + 1) * width].reduce(UInt64(band) &+ 0xCBF2_9CE4_8422_2325) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
        }
    }

    /// Returns the number of the first similar text; nil if there is none.
    /// - Parameter text: its signature.
    func first(like text: [UInt16]) -> Int? {
        var first: Int?
        for band in 0..<bands {
            var next = latest[content(band, of: text)]
            while let number = next.map({ Int($0) - 1 }), number >= 0 {
                next = before[number * bands + band]
                guard first.map({ number < $0 }) ?? true else { continue }
                let kept = values[number * Self.functions..<(number + 1) * Self.functions]
                if Self.agreement(kept, text) >= least { first = number }
            }
        }
        return first
    }

    /// - Parameter text: its signature.
    mutating func add(_ text: [UInt16]) {
        values += text
        let number = UInt32(values.count / Self.functions)
        for band in 0..<bands {
            before.append(latest.updateValue(number, forKey: content(band, of: text)) ?? 0)
        }
    }

    /// Number of functions for which two signatures agree.
    static func agreement(_ a: some Sequence<UInt16>, _ b: some Sequence<UInt16>) -> Int {
        zip(a, b).reduce(0) { $0 + ($1.0 == $1.1 ? 1 : 0) }
    }

    // MARK: Signatures

    /// Returns for each function the lower half of a hash of 32 bits.
    static func signature(of text: String) -> [UInt16] {
        let pieces = pieces(of: text)
        return factors.map { factor, summand in
            var least = UInt32.max
            for piece in pieces { least = min(least, UInt32((factor &* piece &+ summand) >> 32)) }
            return UInt16(truncatingIfNeeded: least)
        }
    }

    /// The hashes of all pieces; a shorter text has one.
    private static func pieces(of text: String) -> [UInt64] {
        var characters: [UInt32] = []
        for character in text.lowercased().unicodeScalars {
            if !character.properties.isWhitespace {
                characters.append(character.value)
            } else if characters.last.map({ $0 != 0x20 }) ?? false {
                characters.append(0x20)
            }
        }
        if characters.last == 0x20 { characters.removeLast() }
        let count = max(1, characters.count - pieceLength + 1)
        return (0..<count).map { start in
            mixed(characters[start...].prefix(pieceLength).reduce(0) { mixed($0 ^ UInt64($1)) })
        }
    }

    /// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014).
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value &+ 0x9E37_79B9_7F4A_7C15
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    /// Multiply and shift (Dietzfelbinger and others, 1997): factors are odd.
    private static let factors: [(UInt64, UInt64)] = (0..<functions).map { number in
        (mixed(UInt64(2 * number)) | 1, mixed(UInt64(2 * number + 1)))
    }
}
