import OperatingSystem
import Testing

@testable import phibatch

@Suite struct MachineReportTests {
    @Test func onlyWhatLimitsIsSaid() {
        let machine = AvailableMemory(bytes: 16, reason: "machine")
        let free = AvailableMemory(bytes: 9, reason: "free")
        let endless = AvailableMemory(bytes: .max >> 1, reason: "group")
        #expect(MachineReport.limiting([machine, free, endless], physical: 16) == ["free"])
        #expect(MachineReport.limiting([machine, endless], physical: 16) == ["machine"])
    }
}
