@testable import Jobs

extension JobSettings {
    /// As `load(file:options:)`, from the file's content; `name` stands for it in errors.
    static func parse(
        _ yaml: String, name: String = "job", folder: String = "", options: [WrittenSetting] = []
    ) throws -> JobSettings {
        var job = JobSettings()
        try job.apply(WrittenSetting.all(in: Array(yaml.utf8), name: name, folder: folder) + options)
        try job.check(file: name)
        return job
    }

    /// A job file that names model, input and output in three lines, and then says this.
    static func sample(
        _ yaml: String, folder: String = "jobs", options: KeyValuePairs<String, [String]> = [:]
    ) throws -> JobSettings {
        try parse(
            "model: m\ninput: in.jsonl\noutput: out.jsonl\n" + yaml, name: "job.yaml", folder: folder,
            options: WrittenSetting.all(options))
    }

    /// What is wrong with the settings of a sample; nothing if they can be.
    static func problem(_ yaml: String, _ options: KeyValuePairs<String, [String]> = [:]) -> String {
        do {
            _ = try sample(yaml, options: options)
            return ""
        } catch { return "\(error)" }
    }
}

extension WrittenSetting {
    /// Options, by the names of the settings.
    static func all(_ texts: KeyValuePairs<String, [String]>) -> [WrittenSetting] {
        texts.map { name, texts in
            guard let key = JobKey.named(name) else { preconditionFailure("no setting \(name)") }
            return WrittenSetting(key, texts)
        }
    }
}
