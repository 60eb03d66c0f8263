import Testing

@testable import OperatingSystem

@Suite struct ProcessorNameTests {
    @Test(
        arguments: [
            (
                "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD  EPYC 9R14\nmodel name\t: other\n",
                "AMD EPYC 9R14"
            ),
            (
                "processor\t: 0\nBogoMIPS\t: 108.00\nModel\t\t: Raspberry Pi 5 Model B\n",
                "Raspberry Pi 5 Model B"
            ),
            ("processor : 0\nmodel name\n", nil), ("", nil),
        ] as [(String, String?)])
    func inList(text: String, name: String?) { #expect(ProcessorName.inList(Array(text.utf8)) == name) }

    @Test func system() { #expect(SystemName.current.split(separator: " ").count >= 3) }
}
