import JSON
import JSONSchema
import Testing

@Suite struct ExactNumberTests {
    @Test func numbersAreTheDecimalsThatWereWritten() {
        #expect(ExactNumber(0.1).significand == 1 && ExactNumber(0.1).exponent == -1)
        #expect(ExactNumber(1e22) == ExactNumber(1e22) && ExactNumber(1e22).exponent == 22)
        #expect(ExactNumber(1.0) == ExactNumber(1) && ExactNumber(-0.0) == ExactNumber(0))
        #expect(ExactNumber(Double(Int.max)).integer == nil && ExactNumber(Int.min).integer == Int.min)
        #expect(ExactNumber(1.5).isInteger == false && ExactNumber(1e300).isInteger)
        for (number, text) in [
            (0.001, "0.001"), (-1234.5, "-1234.5"), (1e300, "1e300"), (120, "120"), (1e-30, "1e-30"),
        ] {
            #expect(ExactNumber(number).description == text)
        }
    }

    @Test func orderIsThatOfTheNumbers() {
        let sorted = [
            -1e300, -1e18, -2, -1.5, -1e-9, 0, 1e-300, 0.1, 0.11, 1, 9.99, 10, 99, 100, 1e17, 1e300,
        ]
        for (i, a) in sorted.enumerated() {
            for (j, b) in sorted.enumerated() {
                #expect((ExactNumber(a) < ExactNumber(b)) == (i < j))
            }
        }
        #expect(ExactNumber(Int.max - 1) < ExactNumber(Int.max))
        #expect(ExactNumber(Int.max) < ExactNumber(9.3e18))
    }

    @Test func multiplesAreExact() {
        for (number, divisor, isMultiple) in [
            (0.3, 0.1, true), (1.1, 0.01, true), (19.99, 0.01, true), (0.35, 0.1, false),
            (1e308, 0.123456789, false),
            (1e308, 0.5, true), (1e-300, 1, false), (7, 3.5, true), (4.02, 0.02, true),
            (9.007199254740993e15, 2, true),
        ] {
            #expect(ExactNumber(number).isMultiple(of: ExactNumber(divisor)) == isMultiple)
        }
        #expect(!ExactNumber(Int.max).isMultiple(of: ExactNumber(Int.max - 1)))
        for (number, divisor, isMultiple) in [
            ("123456789012345678901234567890", "5", true), ("123456789012345678901234567891", "5", false),
            ("1e60", "9007199254740992001", false), ("1e63", "9223372036854775808", true),
            ("1e62", "9223372036854775808", false), ("0", "18446744073709551615", true),
            ("1e-999999999999", "1", false), ("1e999999999999", "7", false),
        ] {
            #expect(
                ExactNumber(text: number).isMultiple(of: ExactNumber(text: divisor)) == isMultiple,
                "\(number) of \(divisor)")
        }
    }

    @Test func noDigitIsLost() {
        let sorted = [
            "-18446744073709551616", "-18446744073709551615", "-1e-999999999999", "0",
            "0.99999999999999999999999", "1.00000000000000000000000", "1.00000000000000000000001",
            "18446744073709551615", "18446744073709551615.5", "18446744073709551616", "1e999999999999",
        ].map { ExactNumber(text: $0) }
        for (i, a) in sorted.enumerated() {
            for (j, b) in sorted.enumerated() {
                #expect((a < b) == (i < j) && (a == b) == (i == j), "\(a) and \(b)")
            }
        }
        #expect(
            sorted[7].description == "18446744073709551615" && sorted[7].isInteger && sorted[7].integer == nil
        )
        #expect(ExactNumber(text: "-9223372036854775808").integer == .min)
        #expect(ExactNumber(text: "12e1") == ExactNumber(text: "1200e-1") && ExactNumber(text: "-0").isZero)
    }
}
