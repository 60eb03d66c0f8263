import BatchEngine

/// Settings of an answer: `maxTokens`, `temperature` and so on, as jobs have them. What is not set is left to the
/// defaults. Settings that say something of a job's results, such as `samples`, have no meaning here and are refused.
public typealias AnswerParameters = RequestSettings

extension RequestSettings {
    /// Returns the fault of the settings for one answer, by a vocabulary of this size; nil if there is none.
    func answerProblem(vocabularySize: Int) -> String? {
        let own = RequestSetting.all.filter { !$0.places.contains(.library) }
        if let other = own.first(where: { $0.isSet(in: self) }) {
            return "\(other.name) has no meaning for a single answer."
        }
        var settings = self
        // Nothing is asked for, which is no fault of a program.
        if maxTokens == 0 { settings.maxTokens = nil }
        return settings.problem ?? problem(vocabularySize: vocabularySize)
    }
}
