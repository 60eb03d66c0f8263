/// Measures the energy that the machine's processors take, where they tell it (RAPL; Linux's /sys/class/powercap):
/// whole packages, whatever else runs on them.
package struct EnergyMeter: Sendable {
    private struct Package {
        let file: String
        /// Where the counter goes round, in microjoules.
        let end: Int
        var last: Int

        /// What it has grown by since the last reading; nil if it can't be read any more.
        mutating func growth() -> Int? {
            guard let now = SystemFile.numbers(file).first else { return nil }
            defer { last = now }
            return now >= last ? now - last : now + end - last
        }
    }

    private var packages: [Package]
    private var microjoules = 0

    /// Nil where no processor tells, or only the administrator.
    /// - Parameter root: where /sys is; another one in tests.
    package init?(root: String = "") {
        let folder = root + "/sys/class/powercap"
        // Parts of a package, and a second way to the same counters, have other names.
        let names = ((try? Files.names(in: folder)) ?? []).filter { $0.hasPrefix("intel-rapl:") }
        packages = names.compactMap { name in
            let place = "\(folder)/\(name)"
            guard SystemFile.text(place + "/name")?.hasPrefix("package-") == true,
                let end = SystemFile.numbers(place + "/max_energy_range_uj").first,
                let now = SystemFile.numbers(place + "/energy_uj").first
            else { return nil }
            return Package(file: place + "/energy_uj", end: end, last: now)
        }
        if packages.isEmpty { return nil }
    }

    /// Joules since the beginning. To be asked at least as often as a counter goes round, which takes minutes.
    /// - Returns: nil if that can't be told any more.
    package mutating func joules() -> Double? {
        for number in packages.indices {
            guard let growth = packages[number].growth() else { return nil }
            microjoules += growth
        }
        return Double(microjoules) / 1e6
    }
}
