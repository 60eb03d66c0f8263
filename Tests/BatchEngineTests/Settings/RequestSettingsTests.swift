import BatchEngine
import Testing

@Suite struct RequestSettingsTests {
    /// Each by its own rule, and nothing where the line says nothing.
    @Test func aLineIsMergedUnderItsJob() {
        var job = RequestSettings(maxTokens: 10, temperature: 0.5, seed: 1, stop: ["a"])
        (job.presencePenalty, job.samples) = (0, 3)
        #expect(RequestSettings.merged(job: job, line: RequestSettings()) == job)
        var line = RequestSettings(maxTokens: 20, temperature: 1, topP: 0.9, seed: 2, stop: ["b"])
        (line.presencePenalty, line.logitBias) = (1, [:])
        var merged = RequestSettings(maxTokens: 10, temperature: 0.5, topP: 0.9, seed: 2, stop: ["a", "b"])
        (merged.presencePenalty, merged.logitBias, merged.samples) = (0, [:], 3)
        #expect(RequestSettings.merged(job: job, line: line) == merged)
        line.maxTokens = 5
        #expect(RequestSettings.merged(job: job, line: line).maxTokens == 5)
        #expect(RequestSettings.merged(job: RequestSettings(), line: line) == line)
    }

    @Test func whatIsOutOfRangeIsNamed() {
        func problem(_ change: (inout RequestSettings) -> Void) -> String? {
            var settings = RequestSettings()
            change(&settings)
            return settings.problem ?? settings.problem(vocabularySize: 10)
        }
        #expect(problem { _ in } == nil)
        #expect(problem { ($0.logitBias, $0.repetitionPenalty) = ([0: -100, 9: 100], 100) } == nil)
        #expect(problem { $0.maxTokens = 0 }?.hasPrefix("max_tokens must be ") == true)
        #expect(problem { $0.presencePenalty = .nan }?.hasPrefix("presence_penalty must be ") == true)
        #expect(problem { $0.repetitionPenalty = 0 }?.hasPrefix("repetition_penalty must be ") == true)
        #expect(problem { $0.logitBias = [1: 100.5, -1: 0] }?.contains("0.0 for -1") == true)
        #expect(problem { $0.logitBias = [10: 1, 12: 1] }?.contains("the token id 10") == true)
        #expect(problem { $0.stop = ["a", ""] }?.hasPrefix("stop holds an empty string") == true)
        #expect(problem { $0.choices = [] }?.hasPrefix("choices must be two answers or more") == true)
    }

    /// What is so anyway is set, but changes nothing.
    @Test func defaultsChangeNothing() throws {
        var settings = RequestSettings(temperature: 0, topP: 1, topK: 0, minP: 0, seed: 0)
        (settings.presencePenalty, settings.frequencyPenalty, settings.repetitionPenalty) = (0, 0, 1)
        (settings.logitBias, settings.stop, settings.tokens) = ([:], [], false)
        #expect(!RequestSetting.all.contains { $0.changes(settings) })
        #expect(
            RequestSetting.all.filter { $0.isSet(in: settings) }.map(\.name) == [
                "temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty",
                "repetition_penalty", "logit_bias", "seed",
            ])
        settings.temperature = 1
        #expect(SamplingParameters(settings).filters.isEmpty && LogitRules(settings) == LogitRules())
        settings.temperature = 0
        (settings.logprobs, settings.stop, settings.minP) = (0, ["x"], 0.1)
        #expect(
            RequestSetting.all.filter { $0.changes(settings) }.map(\.name) == ["min_p", "stop", "logprobs"])
    }

    @Test func theTableHoldsTogether() throws {
        #expect(Set(RequestSetting.all.map(\.name)).count == RequestSetting.all.count)
        for setting in RequestSetting.all {
            // A body becomes a line.
            if !setting.places.isDisjoint(with: [.body, .responses]), setting.name != "logprobs" {
                #expect(setting.places.contains(.line), "\(setting.name)")
            }
            #expect(!setting.tasks.isEmpty, "\(setting.name)")
            let unset =
                switch setting.kind {
                case .int(_, let range, let unset): unset.map { (range.contains($0), "\($0)") }
                case .number(_, let range, let unset): (range.contains(Double(unset)), "\(Int(unset))")
                default: (Bool, String)?.none
                }
            guard let (isRight, text) = unset else { continue }
            #expect(isRight && setting.help.contains("(default \(text)"), "\(setting.name)")
        }
    }
}
