import CPhiKernels
import Testing

@testable import PhiModel

@Suite struct ProcessorFamilyTests {
    /// What was measured on Zen 4 (family 25) and Zen 5 (26), and reckoned for Intel.
    @Test(arguments: [
        (Int(PHI_AMD), 0x19, true, 0), (Int(PHI_AMD), 0x1a, false, 1),
        (Int(PHI_AMD), 0x1b, false, 1), (Int(PHI_INTEL), 6, false, 2),
        (Int(PHI_OTHER), 24, false, 0), (Int(PHI_OTHER), 0, false, 0),
    ])
    func choicesByFamily(vendor: Int, family: Int, shifts: Bool, fetches: Int) {
        let ways = phi_ways(PhiProcessor(vendor: UInt32(vendor), family: UInt32(family)))
        #expect((ways.shifts != 0) == shifts)
        #expect(Int(ways.fetches_heads) == fetches)
    }

    @Test func names() {
        #expect(PhiProcessor(vendor: UInt32(PHI_AMD), family: 26).familyName == "AMD family 26")
        #expect(PhiProcessor(vendor: UInt32(PHI_INTEL), family: 6).familyName == "Intel family 6")
        #expect(PhiProcessor(vendor: UInt32(PHI_OTHER), family: 0).familyName == nil)
    }

    @Test func thisMachinesKernelsComeInItsOrder() {
        let names = Kernels.available.map(\.name)
        guard let shifting = names.firstIndex(of: "avx512-shifting"),
            let plain = names.firstIndex(of: "avx512")
        else { return }
        #expect((shifting < plain) == (phi_ways(phi_this_processor()).shifts != 0))
    }
}
