import Testing
import TokenConstraints

@Suite struct ConstraintFaultTests {
    @Test func namesThePlace() {
        #expect(ConstraintFault(.tooLarge, at: "#/a", "x").description == "#/a: x")
        #expect(ConstraintFault(.tooLarge, "x").description == "x")
    }
}
