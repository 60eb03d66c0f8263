/// Address and limits of a server.
package struct ServerOptions: Sendable {
    package var host = "127.0.0.1"
    /// 0 for any that is free.
    package var port = 8000
    /// Any of them opens; without one only loopback is served.
    package var keys: [String] = []
    /// The names of the model, the first of which answers have.
    package var names: [String]
    /// Folder of files and batches.
    package var folder: String
    /// Requests that wait or run; more are turned away.
    package var waiting = 512
    /// Bytes of a body, and of a file.
    package var body = 16 << 20
    package var file = 512 << 20
    /// Seconds that open requests have once the server is asked to stop.
    package var grace = 30.0
    package var limits = HTTPLimits()

    package init(names: [String], folder: String) { (self.names, self.folder) = (names, folder) }
}
