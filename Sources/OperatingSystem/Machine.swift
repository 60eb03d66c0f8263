import FoundationShim

/// Name of the processor.
package enum ProcessorName {
    /// Nil if the system doesn't say.
    package static var current: String? {
        #if canImport(Darwin)
            var count = 0
            guard sysctlbyname("machdep.cpu.brand_string", nil, &count, nil, 0) == 0, count > 0 else {
                return nil
            }
            var name = [CChar](repeating: 0, count: count)
            guard sysctlbyname("machdep.cpu.brand_string", &name, &count, nil, 0) == 0 else { return nil }
            return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            return inList((try? Files.contents(of: "/proc/cpuinfo", limit: 1 << 16)) ?? [])
        #endif
    }

    /// Returns the first name in the text of /proc/cpuinfo.
    static func inList(_ bytes: [UInt8]) -> String? {
        for line in String(decoding: bytes, as: UTF8.self).split(at: "\n") {
            let parts = line.split(at: ":", max: 1)
            guard parts.count == 2, ["model name", "Model"].contains(where: { parts[0].hasPrefix($0) }) else {
                continue
            }
            let words = parts[1].split { $0 == " " || $0 == "\t" }
            // "model : 17" is only a number.
            if !words.isEmpty, Int(words[0]) == nil { return words.joined(separator: " ") }
        }
        return nil
    }
}

/// Operating system's name and version, and the processor's kind, as in "Linux 6.8.0 x86_64".
package enum SystemName {
    package static var current: String {
        var names = utsname()
        guard uname(&names) == 0 else { return "unknown" }
        func text<Field>(_ field: Field) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(text(names.sysname)) \(text(names.release)) \(text(names.machine))"
    }
}
