/// Address and limits of a server.
package struct ServerOptions: Sendable {
    package var host = "127.0.0.1"
    /// 0 for any free port.
    package var port = 8000
    /// Any of them gives access; without keys only loopback is served.
    package var keys: [String] = []
    /// Names of the model; answers have the first.
    package var names: [String]
    /// Folder of files and batches.
    package var folder: String
    /// The most requests that wait or run; more are refused.
    package var waiting = 512
    /// The most bytes of a body, and of a file.
    package var body = 16 << 20
    package var file = 512 << 20
    /// Seconds for open requests once the server is asked to stop.
    package var grace = 30.0
    package var connections = 512
    /// Bytes of a request's head, and of a single read.
    var head = 32 << 10
    /// Seconds of silence in both directions after which a connection is closed. A request's head may take twice as
    /// long; body and answer have a second more for each 50 kB.
    var patience = 60

    package init(names: [String], folder: String) { (self.names, self.folder) = (names, folder) }
}
