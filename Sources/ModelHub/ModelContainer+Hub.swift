import PhiModel

extension ModelContainer {
    /// Loads a model by its name, and first fetches files that are missing on this machine.
    ///
    /// ```swift
    /// let phi = try await ModelContainer.load("phi-4-mini") { print($0.done, "of", $0.total) }
    /// ```
    ///
    /// Files are in Hugging Face's cache, set by `HF_HOME`, `HF_TOKEN` and its other variables. A fetch that is
    /// cancelled or interrupted is resumed by the next call.
    /// - Parameters:
    ///   - name: a name that `phibatch models` lists, `org/name[@revision]` on Hugging Face, or a folder.
    ///   - options: threads, memory and precision.
    ///   - workers: the most requests that run together; nil leaves it to the model.
    ///   - progress: called a few times a second, on any thread; never if nothing must be fetched.
    /// - Throws: `UserError` if the model can't be fetched or loaded, `CancellationError`.
    public static func load(
        _ name: String, options: EngineOptions = EngineOptions(), workers: Int? = nil,
        progress: @escaping @Sendable (DownloadProgress) -> Void = { _ in }
    ) async throws -> ModelContainer {
        let report: @Sendable (DownloadEvent) -> Void = { event in
            if case .progress(let sofar) = event { progress(sofar) }
        }
        let folder = try await HubClient.onThread(HubSettings(), report: report) { client in
            try client.folder(of: ModelName(name, path: name))
        }
        return try await load(folder: folder, options: options, workers: workers)
    }
}
