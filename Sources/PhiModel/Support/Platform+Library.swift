#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Platform {
    /// A shared library, loaded for as long as the process lives.
    struct LoadedLibrary {
        private nonisolated(unsafe) let handle: UnsafeMutableRawPointer

        /// How the system ends the names of such files.
        static var suffix: String {
            #if canImport(Darwin)
                "dylib"
            #else
                "so"
            #endif
        }

        /// - Returns: nil and the system's words if it can't be loaded.
        static func open(_ path: String) -> (library: LoadedLibrary?, reason: String) {
            guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
                return (nil, dlerror().map { String(cString: $0) } ?? "unknown error")
            }
            return (LoadedLibrary(handle: handle), "")
        }

        func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(handle, name) }
    }
}
