/// Measures the energy of the machine's processors, if they report it (RAPL; Linux's /sys/class/powercap): of whole
/// packages, whatever runs on them.
package struct EnergyMeter: Sendable {
    private struct Package {
        let file: String
        /// Value at which the counter wraps, in microjoules.
        let end: Int
        var last: Int

        /// Returns the growth since the last reading; nil if it can no longer be read.
        mutating func growth() -> Int? {
            guard let now = Files.numbers(in: file).first else { return nil }
            defer { last = now }
            return now >= last ? now - last : now + end - last
        }
    }

    private var packages: [Package]
    private var microjoules = 0

    /// Nil if no processor reports energy, or only to the administrator.
    /// - Parameter root: prefix of /sys, for tests.
    package init?(root: String = "") {
        let folder = root + "/sys/class/powercap"
        // Other names are parts of a package, or the same counters again.
        let names = ((try? Files.names(in: folder)) ?? []).filter { $0.hasPrefix("intel-rapl:") }
        packages = names.compactMap { name in
            let place = "\(folder)/\(name)"
            guard Files.text(of: place + "/name")?.hasPrefix("package-") == true,
                let end = Files.numbers(in: place + "/max_energy_range_uj").first,
                let now = Files.numbers(in: place + "/energy_uj").first
            else { return nil }
            return Package(file: place + "/energy_uj", end: end, last: now)
        }
        if packages.isEmpty { return nil }
    }

    /// Returns the joules since the beginning. Must be called within a counter's period, which is minutes.
    /// - Returns: nil if it can no longer be read.
    package mutating func joules() -> Double? {
        for number in packages.indices {
            guard let growth = packages[number].growth() else { return nil }
            microjoules += growth
        }
        return Double(microjoules) / 1e6
    }
}
