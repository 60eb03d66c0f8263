import BatchEngine
import Foundations
import PhiModel

/// Fields that change logits.
extension LineField {
    func penalty(_ name: String) throws(LineError) -> Float? {
        try number(name, "a number from -2 to 2", where: LogitRules.penaltyRange.contains)
    }

    /// As in OpenAI's API: an object with token ids as names.
    func logitBias() throws(LineError) -> [Int32: Float]? {
        guard let value = self["logit_bias"] else { return nil }
        guard case .object(let members) = value else {
            throw wrong("logit_bias", "an object of token ids and numbers from -100 to 100", value)
        }
        var bias: [Int32: Float] = [:]
        for member in members {
            guard let id = LogitBias.tokenID(member.name) else {
                throw LineError(
                    .badField,
                    "`logit_bias` must have token ids as names, but has \"\(member.name.prefix(64))\".")
            }
            switch member.value {
            case .int(let number) where LogitRules.biasRange.contains(Double(number)):
                bias[id] = Float(number)
            case .double(let number) where LogitRules.biasRange.contains(number): bias[id] = Float(number)
            default:
                throw LineError(
                    .badField,
                    "`logit_bias` must have numbers from -100 to 100, but has \(shown(member.value)) for \(id)."
                )
            }
        }
        return bias
    }
}
