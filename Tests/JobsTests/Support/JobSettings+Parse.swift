@testable import Jobs

extension JobSettings {
    /// As `load(file:options:)`, from the file's content; `name` stands for it in errors.
    static func parse(
        _ yaml: String, name: String = "job", folder: String = "", options: [JobOption] = []
    ) throws -> JobSettings {
        var job = JobSettings()
        let written = try JobFile.settings(Array(yaml.utf8), name: name, folder: folder)
        try job.apply(written + WrittenSetting.of(options))
        try job.check(file: name)
        return job
    }
}
