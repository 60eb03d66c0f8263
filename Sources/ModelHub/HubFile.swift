/// One file of a repository, as the hub describes it.
struct HubFile: Sendable, Equatable {
    /// Within the repository.
    var path: String
    /// What names the blob: SHA-256 of a large file, git's hash of a small one.
    var etag: String
    /// In bytes.
    var size: Int
}

/// A repository at one commit.
struct HubListing: Sendable, Equatable {
    var commit: String
    var paths: [String]
    /// Whether the hub says that everybody may read it.
    var isPublic = false
}

/// How far a download is.
public struct DownloadProgress: Sendable, Equatable {
    /// The bytes of all files.
    public var total: Int
    /// Bytes that are here, those of an earlier attempt included.
    public var done: Int
    /// Bytes that came in this attempt.
    public var fetched: Int
    public var seconds: Double

    package init(total: Int, done: Int, fetched: Int = 0, seconds: Double = 0) {
        self.total = total
        self.done = done
        self.fetched = fetched
        self.seconds = seconds
    }

    public var bytesPerSecond: Double { seconds > 0 ? Double(fetched) / seconds : 0 }
    /// Nil while there is no speed to tell by.
    public var secondsLeft: Double? {
        bytesPerSecond > 0 ? Double(total - done) / bytesPerSecond : nil
    }
}
