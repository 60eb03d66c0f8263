import CPhiKernels
import FoundationShim

/// One variant of the compute kernels. All variants give the same bits; they differ in speed.
package struct Kernels: Sendable {
    // Constants of C: function pointers and a name.
    package nonisolated(unsafe) let table: PhiKernels

    /// `amx`, `avx512-shifting`, `avx512`, `avxvnni`, `avx2`, `i8mm`, `dotprod` or `reference`.
    package var name: String { String(cString: table.name) }

    /// The fewest instructions per multiply-add of 4-bit weights; 0 for the reference.
    package var needed: Double { table.needed }

    /// The variants that this machine can run, best first.
    package static var available: [Kernels] {
        (0..<phi_kernels_count()).compactMap { index in
            phi_kernels_at(index).map { Kernels(table: $0.pointee) }
        }
    }

    /// Returns the variant of a name, by default the one that `PHIBATCH_KERNELS` names; without one the best.
    /// - Throws: `UserError` if this machine lacks it.
    package static func chosen(
        _ name: String? = ProcessInfo.processInfo.environment["PHIBATCH_KERNELS"]
    ) throws -> Kernels {
        let all = available
        guard let name, !name.isEmpty else { return all[0] }
        if let found = all.first(where: { $0.name == name }) { return found }
        throw UserError(
            .resources,
            "no kernels named \"\(name)\" on this machine; it has \(all.map(\.name).joined(separator: ", "))")
    }

    /// Family of this machine's processor, as in "AMD family 25"; nil if processors have no families.
    package static var processorFamily: String? { phi_this_processor().familyName }
}

extension PhiProcessor {
    var familyName: String? {
        switch Int(vendor) {
        case Int(PHI_AMD): "AMD family \(family)"
        case Int(PHI_INTEL): "Intel family \(family)"
        default: family > 0 ? "family \(family)" : nil
        }
    }
}
