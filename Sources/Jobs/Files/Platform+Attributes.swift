import CZlib
import Essentials

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
            let source = path.cPath
            let names = Self.list { llistxattr(source, $0, $1) }
            var lost: [String] = []
            for name in names {
                let cName = name.cPath
                guard let value = Self.bytes(asking: { lgetxattr(source, cName, $0, $1) }) else {
                    lost.append(name)
                    continue
                }
                if fsetxattr(descriptor, cName, value, value.count, 0) == 0 { continue }
                // What the system sets by itself (a security label) is the same already.
                if Self.bytes(asking: { fgetxattr(descriptor, cName, $0, $1) }) != value {
                    lost.append(name)
                }
            }
            // A new file inherits its folder's list.
            if !names.contains(Self.accessList),
                Self.list({ flistxattr(descriptor, $0, $1) }).contains(Self.accessList),
                fremovexattr(descriptor, Self.accessList.cPath) != 0
            {
                lost.append(Self.accessList)
            }
            return lost
        }

        private static func list(_ call: (UnsafeMutablePointer<CChar>?, Int) -> Int) -> [String] {
            let names = bytes { call($0?.assumingMemoryBound(to: CChar.self), $1) }
            return (names ?? []).split(separator: 0).map { String(pathBytes: $0) }
        }

        /// What a call that first tells the size gives; nil if it fails.
        private static func bytes(asking call: (UnsafeMutableRawPointer?, Int) -> Int) -> [UInt8]? {
            let size = call(nil, 0)
            guard size > 0 else { return size == 0 ? [] : nil }
            var bytes = [UInt8](repeating: 0, count: size)
            let count = bytes.withUnsafeMutableBytes { call($0.baseAddress, $0.count) }
            return count < 0 ? nil : Array(bytes.prefix(count))
        }

        typealias RenameAt2 =
            @Sendable @convention(c) (
                Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
            ) -> Int32

        /// Older C libraries have none.
        static let renameat2 = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }
    #endif
}
