import CCurl
import Errors
import OperatingSystem

/// libcurl, which fetches files. Nearly every system has it; it is loaded on first use, so that everything else works
/// without it.
package final class Curl: Sendable {
    typealias Handle = UnsafeMutableRawPointer
    typealias Text = UnsafeMutablePointer<CChar>
    typealias Receiver = @convention(c) (Text?, Int, Int, Handle?) -> Int
    typealias Progress = @convention(c) (Handle?, Int64, Int64, Int64, Int64) -> Int32

    /// The version as libcurl reports it, such as "libcurl/8.14.1 OpenSSL/3.5.1".
    package let version: String

    let make: @convention(c) () -> Handle?
    let reset: @convention(c) (Handle) -> Void
    let perform: @convention(c) (Handle) -> Int32
    let cleanUp: @convention(c) (Handle) -> Void
    let append: @convention(c) (Handle?, UnsafePointer<CChar>) -> Handle?
    let freeList: @convention(c) (Handle?) -> Void
    private nonisolated(unsafe) let setOption: Handle
    private nonisolated(unsafe) let getInfo: Handle

    private static let shared = Result { () throws(UserError) in
        try Curl(named: ProgramCall.path(inVariable: "PHIBATCH_CURL"))
    }

    /// The library, loaded once.
    /// - Throws: `UserError`, with the way to install it.
    package static func load() throws(UserError) -> Curl { try shared.get() }

    /// - Parameter name: the library's; nil for the system's.
    init(named name: String?) throws(UserError) {
        // OpenSSL's comes first; it is Debian's libcurl4.
        let names =
            LoadedLibrary.suffix == "dylib"
            ? ["libcurl.4.dylib"] : ["libcurl.so.4", "libcurl-gnutls.so.4"]
        let library = try LibraryFunctions(
            names, named: name, by: "PHIBATCH_CURL",
            advice:
                "models are fetched with it. Install curl, which brings it (the package libcurl4 on Debian and Ubuntu, libcurl on Fedora and Red Hat)",
            since: "7.62"
        ) { UserError(.network, at: "libcurl", "\($0).") }
        make = try library.function("curl_easy_init")
        reset = try library.function("curl_easy_reset")
        perform = try library.function("curl_easy_perform")
        cleanUp = try library.function("curl_easy_cleanup")
        append = try library.function("curl_slist_append")
        freeList = try library.function("curl_slist_free_all")
        setOption = try library.pointer("curl_easy_setopt")
        getInfo = try library.pointer("curl_easy_getinfo")
        // Some versions may not be initialized by two threads: this runs once, before any other call.
        let begin: @convention(c) (Int) -> Int32 = try library.function("curl_global_init")
        let describe: @convention(c) () -> UnsafePointer<CChar> = try library.function("curl_version")
        guard begin(Int(PHI_CURL_GLOBAL_DEFAULT)) == 0 else {
            throw UserError(.network, at: "libcurl", "it does not start on this machine.")
        }
        // Its own version and its TLS; the rest is irrelevant.
        version = String(cString: describe()).split(at: " ")
            .prefix { !$0.hasPrefix("zlib") }.prefix(4).joined(separator: " ")
    }
}

/// Options of a transfer. An unknown one is ignored.
extension Curl {
    func set(_ handle: Handle, _ option: PhiCurlOption, _ value: Int) {
        _ = phi_curl_call(setOption, handle, Int32(option.rawValue), value)
    }

    /// Memory that it points to must outlive the transfer; libcurl copies texts.
    func set(_ handle: Handle, _ option: PhiCurlOption, pointer: UnsafeRawPointer?) {
        _ = phi_curl_call_pointer(setOption, handle, Int32(option.rawValue), pointer)
    }

    /// Returns a value of a transfer: a number, or a text of the library's.
    func info<Value>(_ handle: Handle, _ info: PhiCurlInfo, or unknown: Value) -> Value {
        var value = unknown
        let code = withUnsafeMutablePointer(to: &value) {
            phi_curl_call_pointer(getInfo, handle, Int32(info.rawValue), $0)
        }
        return code == 0 ? value : unknown
    }
}
