import Errors
import FoundationShim

/// A shared library, loaded for as long as the process lives.
package struct LoadedLibrary: Sendable {
    private nonisolated(unsafe) let handle: UnsafeMutableRawPointer

    /// Suffix of library files on this system.
    package static var suffix: String {
        #if canImport(Darwin)
            "dylib"
        #else
            "so"
        #endif
    }

    /// - Parameter path: a file, or a name to search in the system's library folders.
    /// - Throws: `SystemError` with the system's message if it can't be loaded.
    package static func open(_ path: String) throws(SystemError) -> LoadedLibrary {
        #if canImport(Darwin)
            // A name alone would also be searched in the working directory.
            if !path.utf8.contains(UInt8(ascii: "/")) {
                return try first(
                    of: ["/usr/lib/", "/opt/homebrew/lib/", "/usr/local/lib/"].map { $0 + path })
            }
        #endif
        guard let handle = dlopen(path.cPath, RTLD_NOW | RTLD_LOCAL) else {
            throw SystemError("", dlerror().map { String(cString: $0) } ?? "unknown error")
        }
        return LoadedLibrary(handle: handle)
    }

    /// Loads the first of these libraries that can be loaded.
    /// - Throws: `SystemError` with the system's message for the first if none can be.
    package static func first(of names: [String]) throws(SystemError) -> LoadedLibrary {
        do { return try open(names[0]) } catch {
            for name in names.dropFirst() { if let library = try? open(name) { return library } }
            throw error
        }
    }

    package func symbol(_ name: String) -> UnsafeMutableRawPointer? { dlsym(handle, name) }
}

/// Functions of a library that a variable may name.
package struct LibraryFunctions<Failure: Error>: Sendable {
    private let library: LoadedLibrary
    private let absence: @Sendable (String) -> Failure

    /// - Parameters:
    ///   - names: tried in order.
    ///   - named: the user's choice.
    ///   - advice: its purpose, and how to get it; ends a sentence.
    ///   - version: the first version with all functions.
    ///   - failure: makes an error of a sentence about the library.
    package init(
        _ names: [String], named: String?, by variable: String, advice: Message, since version: String,
        failure: @escaping @Sendable (Message) -> Failure
    ) throws(Failure) {
        do throws(SystemError) { library = try LoadedLibrary.first(of: named.map { [$0] } ?? names) } catch {
            let why: Message = named == nil ? advice : "\(variable) names it"
            throw failure("it can't be loaded (\(error.what)), and \(why)")
        }
        absence = {
            failure(
                "it has no \($0): it is older than \(version). Install a newer one, or name it by \(variable)"
            )
        }
    }

    package func pointer(_ name: String) throws(Failure) -> UnsafeMutableRawPointer {
        guard let found = library.symbol(name) else { throw absence(name) }
        return found
    }

    package func function<Function>(_ name: String) throws(Failure) -> Function {
        unsafeBitCast(try pointer(name), to: Function.self)
    }
}
