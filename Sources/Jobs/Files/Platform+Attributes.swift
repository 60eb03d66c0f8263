import Essentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension POSIXFileSystem {
    #if canImport(Darwin)
        package func copyAttributes(
            from path: String, to descriptor: Int32
        ) throws(SystemError) -> [String] {
            let all = ["extended attributes and access control list"]
            guard let source = try? open(path, .readOwn) else { return all }
            defer { close(source) }
            return fcopyfile(source, descriptor, nil, copyfile_flags_t(COPYFILE_ACL | COPYFILE_XATTR)) == 0
                ? [] : all
        }
    #else
        /// An access control list is an attribute too.
        private static let accessList = "system.posix_acl_access"

        package func copyAttributes(
            from path: String, to descriptor: Int32
        ) throws(SystemError) -> [String] {
            guard let calls = AttributeCalls.found else { return [] }
            let source = path.cPath
            let names = Self.list { calls.list(source, $0, $1) }
            var lost: [String] = []
            for name in names {
                let cName = name.cPath
                guard let value = Self.bytes(asking: { calls.get(source, cName, $0, $1) }) else {
                    lost.append(name)
                    continue
                }
                if calls.set(descriptor, cName, value, value.count, 0) == 0 { continue }
                // What the system sets by itself (a security label) is the same already.
                if Self.bytes(asking: { calls.getOpen(descriptor, cName, $0, $1) }) != value {
                    lost.append(name)
                }
            }
            // A new file inherits its folder's list.
            if !names.contains(Self.accessList),
                Self.list({ calls.listOpen(descriptor, $0, $1) }).contains(Self.accessList),
                calls.remove(descriptor, Self.accessList.cPath) != 0
            {
                lost.append(Self.accessList)
            }
            return lost
        }

        private static func list(_ call: (UnsafeMutableRawPointer?, Int) -> Int) -> [String] {
            (bytes(asking: call) ?? []).split(separator: 0).map { String(pathBytes: $0) }
        }

        /// What a call that first tells the size gives; nil if it fails.
        private static func bytes(asking call: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8]? {
            let size = call(nil, 0)
            guard size > 0 else { return size == 0 ? [] : nil }
            var bytes = [UInt8](repeating: 0, count: size)
            let count = bytes.withUnsafeMutableBytes { call($0.baseAddress, $0.count) }
            return count < 0 ? nil : Array(bytes.prefix(count))
        }

        static let renameat2: AttributeCalls.RenameAt2? = AttributeCalls.symbol("renameat2")
    #endif
}

#if !canImport(Darwin)
    /// Calls of the C library that Swift's module for it leaves out.
    struct AttributeCalls: Sendable {
        typealias RenameAt2 =
            @Sendable @convention(c) (
                Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
            ) -> Int32
        typealias List =
            @Sendable @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
        typealias ListOpen = @Sendable @convention(c) (Int32, UnsafeMutableRawPointer?, Int) -> Int
        typealias Get =
            @Sendable @convention(c) (
                UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
            ) -> Int
        typealias GetOpen =
            @Sendable @convention(c) (
                Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int
            ) -> Int
        typealias Set =
            @Sendable @convention(c) (
                Int32, UnsafePointer<CChar>, UnsafeRawPointer?, Int, Int32
            ) -> Int32
        typealias Remove = @Sendable @convention(c) (Int32, UnsafePointer<CChar>) -> Int32

        let list: List
        let listOpen: ListOpen
        let get: Get
        let getOpen: GetOpen
        let set: Set
        let remove: Remove

        static let found: AttributeCalls? = {
            guard let list: List = symbol("llistxattr"), let listOpen: ListOpen = symbol("flistxattr"),
                let get: Get = symbol("lgetxattr"), let getOpen: GetOpen = symbol("fgetxattr"),
                let set: Set = symbol("fsetxattr"), let remove: Remove = symbol("fremovexattr")
            else { return nil }
            return AttributeCalls(
                list: list, listOpen: listOpen, get: get, getOpen: getOpen, set: set, remove: remove)
        }()

        static func symbol<Function>(_ name: String) -> Function? {
            dlsym(nil, name).map { unsafeBitCast($0, to: Function.self) }
        }
    }
#endif
