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
        let kernels = try Kernels.chosen(name).table
        let largest = Int(PHI_LARGEST_SCALE)
        let (groups, group) = (257, 32)
        let buffers = ActivationBuffers()
        defer { withExtendedLifetime(buffers) {} }
        let x = try buffers.room(rows: 1, columns: groups * group, group: group)
        for first in stride(from: 1, through: largest, by: groups - 1) {
            var row = [Float](repeating: 0, count: groups * group)
            // The row's largest number, and then what lies below each wanted scale; more often than outliers are.
            for column in 0..<group { row[column] = 1 }
            for column in group..<row.count {
                row[column] = (Float(first + column / group - 1) - 0.25) / Float(largest)
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
    /// What stands out of a row is kept as it is: the largest numbers, in the order of their columns.
    @Test(arguments: Kernels.available.map(\.name))
    func theLargestOutliersAreFloats(name: String) throws {
        let kernels = try Kernels.chosen(name).table
        let (columns, group) = (640, 64)
        let buffers = ActivationBuffers()
        defer { withExtendedLifetime(buffers) {} }
        let x = try buffers.room(rows: 1, columns: columns, group: group)
        var row = (0..<columns).map { Float($0 * 37 % 19 - 9) / 10 }
        let outliers = [3: 20, 5: -31, 70: 25, 201: 40, 202: 26, 500: 33]
        for (column, value) in outliers { row[column] = Float(value) }
        withUnsafePointer(to: x) { kernels.quantize(row, $0, 0) }
        let found = UnsafeBufferPointer(start: x.outliers, count: Int(PHI_OUTLIERS))
        #expect(found.map { Int($0.column) } == [5, 201, 202, 500])
        for one in found {
            #expect(one.value == row[Int(one.column)])
            #expect(x.values[Int(one.column)] == 0)
        }
        // A row without any, and one in which something is infinite.
        for other in [row.map { $0 > 1 || $0 < -1 ? 0 : $0 }, row.map { $0 == 40 ? .infinity : $0 }] {
            withUnsafePointer(to: x) { kernels.quantize(other, $0, 0) }
            #expect(found.allSatisfy { $0.column == .max })
        }
    }
}
