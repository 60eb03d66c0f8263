/// Sends things to one address of the web and asks for nothing back, on one thread.
package final class WebPost {
    private let connection: WebConnection
    private let address: WebAddress
    private let fields: [String]

    /// - Parameter fields: of each request's head, as `Name: value`.
    /// - Throws: `HubError` if there is no libcurl, or no such address.
    package init(to text: String, fields: [String]) throws(HubError) {
        let curl = try Curl.load()
        guard let address = WebAddress(text, curl) else {
            throw HubError(.badName, text, "is no address of http or https.")
        }
        connection = try WebConnection(curl, HubSettings().network, Patience())
        (self.address, self.fields) = (address, ["User-Agent: phibatch", "Expect:"] + fields)
    }

    /// - Returns: the answer's status.
    /// - Throws: if there is no answer within some seconds.
    package func send(_ bytes: [UInt8], within seconds: Double) throws -> Int {
        try connection.perform(
            address, method: "POST", fields: fields, sends: RequestBody(bytes), seconds: seconds, stop: Stop()
        ) { _, _ in true }.status
    }
}
