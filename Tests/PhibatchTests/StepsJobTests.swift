import Foundation
import Testing

/// Jobs with steps on the embedded model, by the real program.
@Suite(.tags(.slow), .enabled(if: DemoJob.canRun, "the demo model is not there; make test fetches it"))
struct StepsJobTests {
    private static let yaml = #"""
        temperature: 0.9
        max_tokens: 24
        keep: [topic]
        checkpoint_interval: 0.05
        speculate: "off"
        steps:
          - name: question
            prompt: "Write one short question about {{ topic }}."
          - name: facts
            prompt: "{{ question.text }}"
            schema:
              type: object
              properties: {name: {type: string, maxLength: 12}, size: {enum: [small, large]}}
              required: [name, size]
          - name: judge
            prompt: "{{ question.text }} {{ facts.name }} is {{ facts.size }}. Is that right?"
            choices: ["yes", "no"]
            accept: judge.probabilities.yes > 0.82
            tries: 2
          - name: fix
            where: judge.probabilities.yes < 0.95
            prompt: "Say something better than {{ facts.name }} to: {{ question.text }}"
        """#

    private static let topics = [
        "rain", "salt", "kings", "iron", "bread", "moss", "glass", "trains", "wool", "bees",
    ]

    private func job() throws -> DemoJob {
        let job = try DemoJob(
            Self.topics.map { "{\"id\":\"\($0)\",\"topic\":\"\($0)\"}" }, ["--workers", "3", "job.yaml"])
        try Data(Self.yaml.utf8).write(to: URL(filePath: job.folder + "/job.yaml"))
        return job
    }

    private func changed(_ job: DemoJob, _ from: String, _ to: String) throws {
        try Data(Self.yaml.replacing(from, with: to).utf8).write(to: URL(filePath: job.folder + "/job.yaml"))
    }

    @Test func lookingAtAJobSaysWhatItAsks() throws {
        let job = try job()
        defer { job.remove() }
        let check = try RunningProgram(["check"] + job.arguments(), folder: job.folder).end()
        #expect(
            check.status == 0 && check.output.contains("Write one short question about rain."), "\(check)")
        #expect(check.output.contains("<question.text> <facts.name> is <facts.size>. Is that right?"))
        #expect(check.output.contains("prompts, answers and time are those of question alone"))
        try changed(job, "probabilities.yes > 0.82", "probability > 0.82")
        let refused = try job.run()
        #expect(refused.status == 65 && refused.errors.contains("judge has no member probability."))
        try changed(job, "{{ topic }}", "{{ subject }}")
        let wrong = try job.run()
        #expect(wrong.status != 0)
    }
}
