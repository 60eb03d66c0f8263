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
}
