import CHTTP
import Errors
import FoundationShim
import Jobs
import OperatingSystem

/// GNU libmicrohttpd, which implements HTTP. It is loaded only to serve: everything else works without it.
final class HTTPLibrary: Sendable {
    typealias Handle = UnsafeMutableRawPointer
    typealias Text = UnsafePointer<CChar>

    /// An object of the library, which synchronizes it.
    struct Object: @unchecked Sendable {
        let handle: Handle
    }

    /// Variadic functions.
    nonisolated(unsafe) let start: Handle
    nonisolated(unsafe) let info: Handle

    let stop: @convention(c) (Handle) -> Void
    /// Stops accepting connections, and returns the listening socket.
    let quiesce: @convention(c) (Handle) -> Int32
    let suspend: @convention(c) (Handle) -> Void
    let resume: @convention(c) (Handle) -> Void
    let each: @convention(c) (Handle, Int32, PhiHttpValue, Handle) -> Int32
    let queue: @convention(c) (Handle, UInt32, Handle) -> Int32
    let makeBytes: @convention(c) (Int, UnsafeRawPointer?, Int32) -> Handle?
    let makeFile: @convention(c) (UInt64, Int32) -> Handle?
    let makeStream: @convention(c) (UInt64, Int, PhiHttpReader, Handle, PhiHttpRelease) -> Handle?
    let addHeader: @convention(c) (Handle, Text, Text) -> Int32
    let letGo: @convention(c) (Handle) -> Void
    let makeForm: @convention(c) (Handle, Int, PhiHttpField, Handle) -> Handle?
    let readForm: @convention(c) (Handle, Text?, Int) -> Int32
    let endForm: @convention(c) (Handle) -> Int32

    private static let shared = Result { () throws(UserError) in try HTTPLibrary() }

    /// Returns the library, loaded once.
    /// - Throws: `UserError` with the way to install it.
    static func load() throws(UserError) -> HTTPLibrary { try shared.get() }

    private init() throws(UserError) {
        let library = try LibraryFunctions(
            [LoadedLibrary.suffix == "dylib" ? "libmicrohttpd.12.dylib" : "libmicrohttpd.so.12"],
            named: ProgramCall.path(inVariable: "PHIBATCH_MICROHTTPD"), by: "PHIBATCH_MICROHTTPD",
            advice:
                "requests come in by it. Install the package libmicrohttpd12 (Debian and Ubuntu) or libmicrohttpd (Fedora, Red Hat, Homebrew)",
            since: "0.9.38"
        ) { UserError(.missing, at: "libmicrohttpd", "\($0).") }
        start = try library.pointer("MHD_start_daemon")
        info = try library.pointer("MHD_get_connection_info")
        stop = try library.function("MHD_stop_daemon")
        quiesce = try library.function("MHD_quiesce_daemon")
        suspend = try library.function("MHD_suspend_connection")
        resume = try library.function("MHD_resume_connection")
        each = try library.function("MHD_get_connection_values")
        queue = try library.function("MHD_queue_response")
        makeBytes = try library.function("MHD_create_response_from_buffer")
        makeFile = try library.function("MHD_create_response_from_fd64")
        makeStream = try library.function("MHD_create_response_from_callback")
        addHeader = try library.function("MHD_add_response_header")
        letGo = try library.function("MHD_destroy_response")
        makeForm = try library.function("MHD_create_post_processor")
        readForm = try library.function("MHD_post_process")
        endForm = try library.function("MHD_destroy_post_processor")
    }
}
