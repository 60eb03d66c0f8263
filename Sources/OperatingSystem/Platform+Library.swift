import Essentials

/// A shared library, loaded for as long as the process lives.
package struct LoadedLibrary: Sendable {
    private nonisolated(unsafe) let handle: UnsafeMutableRawPointer

    /// How the system ends the names of such files.
    package static var suffix: String {
        #if canImport(Darwin)
            "dylib"
        #else
            "so"
        #endif
    }

    /// - Parameter path: a file, or a name that is looked for in the system's folders of libraries.
    /// - Returns: nil and the system's words if it can't be loaded.
    package static func open(_ path: String) -> (library: LoadedLibrary?, reason: String) {
        #if canImport(Darwin)
            // A name alone would be looked for in the working directory as well.
            if !path.utf8.contains(UInt8(ascii: "/")) {
                return first(of: ["/usr/lib/", "/opt/homebrew/lib/", "/usr/local/lib/"].map { $0 + path })
            }
        #endif
        guard let handle = dlopen(path.cPath, RTLD_NOW | RTLD_LOCAL) else {
            return (nil, dlerror().map { String(cString: $0) } ?? "unknown error")
        }
        return (LoadedLibrary(handle: handle), "")
    }

    /// The first of these that can be loaded.
    /// - Returns: nil and the system's words of the first if none can be.
    package static func first(of names: [String]) -> (library: LoadedLibrary?, reason: String) {
        var reason = ""
        for name in names {
            let found = open(name)
            if let library = found.library { return (library, "") }
            if reason.isEmpty { reason = found.reason }
        }
        return (nil, reason)
    }

    package func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(handle, name) }
}
