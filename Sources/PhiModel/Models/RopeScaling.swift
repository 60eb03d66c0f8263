import CPhiKernels

/// How rotary positions beyond the original context are scaled.
package enum RopeScaling: Sendable, Equatable {
    case none
    case longrope(LongRope)
}

/// LongRoPE as Microsoft defines it: dimension i of a rotation is slowed down by `shortFactors[i]` in
/// sequences of at most `originalContextLength` tokens, by `longFactors[i]` in longer ones.
package struct LongRope: Sendable, Equatable {
    /// Each with `rotaryDimension / 2` entries.
    package var shortFactors: [Double]
    package var longFactors: [Double]
    /// Tokens.
    package var originalContextLength: Int
    /// With the short factors, cos and sin are multiplied by this: sqrt(1 + ln(max/original) / ln(original)), or
    /// what the file says.
    package var attentionFactor: Double
    /// The same with the long factors; where the file does not say, it is no other.
    package var longAttentionFactor: Double

    package init(
        shortFactors: [Double], longFactors: [Double], originalContextLength: Int, attentionFactor: Double,
        longAttentionFactor: Double? = nil
    ) {
        self.shortFactors = shortFactors
        self.longFactors = longFactors
        self.originalContextLength = originalContextLength
        self.attentionFactor = attentionFactor
        self.longAttentionFactor = longAttentionFactor ?? attentionFactor
    }

    /// Microsoft's factor for a context of `contextLength` tokens; 1 where that is not beyond the original.
    static func standardAttentionFactor(contextLength: Int, originalContextLength: Int) -> Double {
        let growth = Double(contextLength) / Double(originalContextLength)
        return growth <= 1 ? 1 : (1 + phi_log(growth) / phi_log(Double(originalContextLength))).squareRoot()
    }
}

extension RopeScaling {
    /// What transformers 5 moves into `rope_parameters` whatever the type.
    private static let defaultKeys: Set<String> = [
        "type", "rope_type", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings",
    ]
    private static let longropeKeys = defaultKeys.union(["short_factor", "long_factor", "factor"])

    /// - Parameter scaling: `rope_scaling` or `rope_parameters` of config.json.
    init(
        _ scaling: ConfigReader?, family: RopeFamily, rotaryDimension: Int, contextLength: Int,
        originalContextLength: Int?
    ) throws {
        guard let scaling else {
            self = .none
            return
        }
        let (type, key) = try Self.type(of: scaling)
        guard ["default", "longrope", "su"].contains(type) else {
            throw scaling.fault(
                .unsupported, key, "is \"\(type)\"; null, \"default\", \"longrope\" and \"su\" are supported")
        }
        let known =
            type == "default" ? Self.defaultKeys : Self.longropeKeys.union(family.attentionFactorKeys)
        if let unknown = scaling.members.names.filter({ !known.contains($0) }).min() {
            throw scaling.fault(
                .unsupported, unknown, "is not a setting of the type \"\(type)\" that is supported")
        }
        guard type != "default" else {
            self = .none
            return
        }
        self = .longrope(
            try LongRope(
                scaling, family: family, rotaryDimension: rotaryDimension, contextLength: contextLength,
                originalContextLength: originalContextLength))
    }

    private static func type(of scaling: ConfigReader) throws -> (type: String, key: String) {
        let old = try scaling.optionalString("type")
        let new = try scaling.optionalString("rope_type")
        if let old, let new, old != new {
            throw scaling.fault(.malformed, "rope_type", "is \"\(new)\", but \"type\" is \"\(old)\"")
        }
        if let type = new ?? old { return (type, new == nil ? "type" : "rope_type") }
        guard !scaling.members.isEmpty, scaling.members.names.allSatisfy(defaultKeys.contains) else {
            throw scaling.fault(.malformed, "type", "is missing")
        }
        return ("default", "type")
    }
}

extension LongRope {
    fileprivate init(
        _ scaling: ConfigReader, family: RopeFamily, rotaryDimension: Int, contextLength: Int,
        originalContextLength: Int?
    ) throws {
        let key = "original_max_position_embeddings"
        let nested = try scaling.optionalInteger(key, 2...Int(Int32.max))
        if let nested, let outer = originalContextLength, nested != outer {
            throw scaling.fault(.malformed, key, "is \(nested), but the same key outside it is \(outer)")
        }
        guard let original = nested ?? originalContextLength else {
            throw scaling.fault(.malformed, key, "is missing; longrope needs it here or beside this object")
        }
        guard original >= 2 else {
            throw scaling.fault(.malformed, key, "is \(original); longrope needs 2 or more")
        }
        let growth = Double(contextLength) / Double(original)
        if let factor = try scaling.optionalNumber("factor", 1e-6...1e6), abs(factor - growth) > 1e-6 * growth
        {
            throw scaling.fault(
                .unsupported, "factor",
                "is \(factor); only max_position_embeddings / original_max_position_embeddings (\(growth)) is supported"
            )
        }
        func attentionFactor(_ key: String) throws -> Double {
            if let stated = try scaling.optionalNumber(key, 1e-6...1e6) { return stated }
            guard !family.statesAttentionFactors else {
                throw scaling.fault(.malformed, key, "is missing; a number is needed")
            }
            return Self.standardAttentionFactor(
                contextLength: contextLength, originalContextLength: original)
        }
        let keys = family.attentionFactorKeys
        self.init(
            shortFactors: try scaling.numbers("short_factor", count: rotaryDimension / 2, 1e-6...1e6),
            longFactors: try scaling.numbers("long_factor", count: rotaryDimension / 2, 1e-6...1e6),
            originalContextLength: original,
            attentionFactor: try attentionFactor(keys[0]),
            longAttentionFactor: try attentionFactor(keys[keys.count - 1]))
    }
}
