import CPhiKernels
import Testing

@testable import PhiModel

@Suite struct ProductTests {
    /// A group's scale is the smallest sum of two powers of two less a third one that is not below what its
    /// largest number asks for; floats and shifts say the same.
    @Test(arguments: Kernels.available.map(\.name))
    func scalesAreTheNextOfThreeTerms(name: String) throws {
        let powers = [0] + (0..<14).map { 1 << $0 }
        let sums = Set(powers.flatMap { a in powers.flatMap { b in powers.map { a + b - $0 } } })
        let kernels = try Kernels.named(name).table
        let largest = Int(PHI_LARGEST_SCALE)
        let (groups, group) = (257, 32)
        let buffers = ActivationBuffers()
        let x = try buffers.room(rows: 1, columns: groups * group, group: group)
        for first in stride(from: 1, through: largest, by: groups - 1) {
            var row = [Float](repeating: 0, count: groups * group)
            // The row's largest number, and then what lies below each wanted scale.
            row[0] = 1
            for index in 1..<groups {
                row[index * group] = (Float(first + index - 1) - 0.25) / Float(largest)
            }
            withUnsafePointer(to: x) { kernels.quantize(row, $0, 0) }
            for index in 1..<groups where first + index - 1 <= largest {
                var next = first + index - 1
                while !sums.contains(next) { next += 1 }
                func term(_ number: Int) -> Int {
                    let exponent = x.shifts[index * 3 + number]
                    return exponent < 32 ? 1 << Int(exponent) : 0
                }
                #expect(x.scales[index] == Float(next))
                #expect(term(0) + term(1) - term(2) == next)
            }
        }
    }
}
