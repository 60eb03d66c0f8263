import Testing

@testable import PhiModel
@testable import PhiText

@Suite struct LayerRuleTests {
    @Test(arguments: [
        ("lm_head=6", "lm_head", true), ("lm_head=6", "model.lm_head", false),
        ("*.down_proj=6:32", "model.layers.10.mlp.down_proj", true),
        ("model.layers.1.*=8", "model.layers.1.mlp.down_proj", true),
        ("model.layers.1.*=8", "model.layers.10.mlp.down_proj", false),
        ("*layers.*.o_proj=none", "model.layers.3.self_attn.o_proj", true), ("*=4", "lm_head", true),
        ("*a*b*=4", "xxaxbabx", true), ("*a*b=4", "xxaxbabx", false), ("**=4", "", true),
    ])
    func fits(text: String, path: String, isFit: Bool) throws {
        #expect(try LayerRule(text).fits(path) == isFit)
    }

    @Test func values() throws {
        let rule = try LayerRule("a=b=5:128")
        #expect(rule.bits == 5 && rule.groupSize == 128 && rule.fits("a=b"))
        let none = try LayerRule("*=none")
        #expect(none.bits == nil && none.groupSize == nil)
    }

    @Test(arguments: ["", "lm_head", "=4", "x=", "x=7", "x=4:", "x=4:16", "x=4:64:2", "x=none:32", "x=-4"])
    func refusals(text: String) {
        #expect(throws: UserError.self) { try LayerRule(text) }
    }
}
