import Errors
import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

/// Compares with what Jinja2 itself made of each case; see Fixtures/make_jinja_cases.py.
@Suite struct TemplateJinjaTests {
    static func fixture() throws -> JSONValue {
        try JSONValue.parse(try Data(contentsOf: TestFolder.fixture("jinja.json")))
    }

    @Test func sameAsJinja() throws {
        let fixture = try Self.fixture()
        guard case .object(let variables)? = fixture["variables"] else {
            Issue.record("the fixture has no variables")
            return
        }
        let cases = try #require(fixture["cases"]).items
        #expect(cases.count >= 60)
        for (number, entry) in cases.enumerated() {
            let source = try #require(entry["template"]?.text)
            let only = entry["only"]?.items.compactMap(\.text)
            let isChat = entry["kind"]?.text == "chat"
            let wanted = entry["result"]?.text
            let context = { (name: String) -> JSONValue? in
                only?.contains(name) == false ? nil : variables.last { $0.name == name }?.value
            }
            do {
                let template = try TextTemplate(source, isChat: isChat, name: "case")
                do {
                    let found = try template.render(fields: isChat ? nil : [:], context: context)
                    if let wanted {
                        expectSame(found, wanted, "case \(number) \(source.debugDescription)")
                    } else {
                        Issue.record(
                            "case \(number) \(source.debugDescription): no error, but \(found.debugDescription)"
                        )
                    }
                } catch let fault as UserError {
                    #expect(fault.kind == .badRequest)
                    if wanted != nil {
                        Issue.record("case \(number) \(source.debugDescription): \(fault.message)")
                    }
                }
            } catch let fault as UserError {
                Issue.record("case \(number) \(source.debugDescription) can't be read: \(fault.message)")
            }
        }
    }
}
