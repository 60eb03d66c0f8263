/// Rests of a division that no later digits distinguish: modulo 1000 only the zeros at the end count.
enum RestClasses {
    /// The largest divisor.
    static let most: UInt64 = 50_000

    /// - Returns: for each rest the smallest equivalent one, and their number; no list for a large divisor.
    static func of(_ divisor: UInt64) -> (rests: [UInt64], count: UInt64) {
        guard divisor <= most else { return ([], divisor) }
        var smallest: [[UInt64]: UInt64] = [:]
        var rests: [UInt64] = []
        for rest in 0..<divisor {
            // After n digits rest * 10^n + digits is a multiple for one value of the digits, if that has at most n of
            // them. With as many digits as the divisor has there is always one.
            var ways: [UInt64] = []
            var power: UInt64 = 1
            var shifted = rest
            while true {
                let missing = (divisor - shifted) % divisor
                ways.append(missing < power ? missing : divisor)
                if power >= divisor { break }
                power *= 10
                shifted = shifted * 10 % divisor
            }
            let known = smallest[ways] ?? rest
            smallest[ways] = known
            rests.append(known)
        }
        return (rests, UInt64(smallest.count))
    }
}
