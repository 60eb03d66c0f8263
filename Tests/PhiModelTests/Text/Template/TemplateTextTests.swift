import Foundation
import JSON
import Testing

@testable import PhiModel
@testable import PhiText

@Suite struct TextTemplateTests {
    @Test func fillsFields() throws {
        let template = try TextTemplate(
            "{{ greeting }}, {{ who.name | upper }}! {{ n + 1 }}\n", name: "prompt")
        let text = try template.render([
            "greeting": "Hi", "who": ["name": "bo"], "n": 2, "unused": [1, 2.5, nil],
        ])
        #expect(text == "Hi, BO! 3\n")
        #expect(template.variables == ["greeting", "who", "n"])
    }

    @Test func membersThatItNamesAreKnown() throws {
        let template = try TextTemplate(
            "{{ a.b['c'].d.upper() }}{{ e.f[0].g }}{{ h.items() }}{{ i.title }}{% set j = a.k %}{{ j.l }}"
                + "{{ (a or m).n }}{{ x[o.p] }}{{ q.r[1:].s }}{% if t.u is defined and (v).w == 1 %}{% endif %}",
            name: "prompt")
        #expect(
            template.members == [
                ["a", "b", "c", "d"], ["e", "f"], ["i", "title"], ["a", "k"], ["o", "p"], ["q", "r"],
                ["t", "u"],
                ["v", "w"],
            ])
    }

    @Test func missingFieldIsNamed() throws {
        let template = try TextTemplate("Line 1\n{{ prompt }}", name: "prompt")
        let error = try #require(modelError { _ = try template.render(["promt": "x"]) })
        #expect(
            error == UserError(.badRequest, "prompt, line 2: line has no field \"prompt\"; it has promt"))
        let nested = try TextTemplate("{{ a.b }}", name: "system")
        let second = try #require(modelError { _ = try nested.render(["a": ["c": 1]]) })
        #expect(second == UserError(.badRequest, "system, line 1: a dict has no attribute 'b'"))
    }

    @Test func missingFieldMayBeAskedFor() throws {
        let template = try TextTemplate(
            "{% if context is defined %}{{ context }}\n{% endif %}{{ style | default('plain') }}",
            name: "prompt")
        #expect(try template.render([:]) == "plain")
        #expect(try template.render(["context": "C", "style": "loud"]) == "C\nloud")
        #expect(template.variables == ["context", "style"])
    }

    /// As in Jinja; but nothing is written for what is not there.
    @Test func missingAndNullFieldsAreFalse() throws {
        let template = try TextTemplate(
            "{% if note %}{{ note }}{% else %}-{% endif %}{{ note or 'none' }}{{ note == 'x' }}",
            name: "prompt")
        #expect(try template.render(["a": 1]) == "-noneFalse")
        #expect(try template.render(["note": nil]) == "-noneFalse")
        #expect(try template.render(["note": "x"]) == "xxTrue")
        #expect(try TextTemplate("{{ note is none }}", name: "p").render(["note": nil]) == "True")
        for source in ["{{ note }}", "a{{ 'b' ~ note }}", "{% for x in nothing %}{% endfor %}"] {
            let template = try TextTemplate(source, name: "p")
            #expect(throws: UserError.self) { try template.render(["note": nil]) }
        }
    }

    /// Nothing outside tags changes but the ends of a template's lines, which are LF as in Jinja.
    @Test(arguments: [
        "", "\n", "a\r\nb\rc\n\n", "  \t x \u{2028}\n", "e\u{301}{", "}} %} #}", "{ {", "\u{0}",
    ])
    func plainTextStays(text: String) throws {
        let scalars = Array(text.unicodeScalars)
        var lines = ""
        for (place, scalar) in scalars.enumerated()
        where !(scalar == "\n" && place > 0 && scalars[place - 1] == "\r") {
            lines.unicodeScalars.append(scalar == "\r" ? "\n" : scalar)
        }
        expectSame(try TextTemplate(text, name: "t").render([:]), lines, "plain text")
        expectSame(try TextTemplate("{{ x }}", name: "t").render(["x": .string(text)]), text, "a field")
        let around = try TextTemplate("\(text)\r\n {% if x %} \n{% endif %}\n", name: "t")
        expectSame(try around.render(["x": true]), "\(lines)\n  \n\n", "around a tag")
    }

    @Test func variablesAreThoseNotAssigned() throws {
        let source =
            "{% set a = b %}{% for c in d %}{{ c }}{{ loop.index }}{% endfor %}{% macro m(e) %}{{ e }}{{ f }}"
            + "{% endmacro %}{{ m(g) }}{{ range(h) }}{{ i.j }}{{ k['l'] }}{{ x | map(attribute='y') | list }}"
        #expect(try TextTemplate(source, name: "t").variables == ["b", "d", "f", "g", "h", "i", "k", "x"])
    }

    @Test func fieldsHideFunctions() throws {
        let template = try TextTemplate("{{ range }}{{ dict }}", name: "t")
        #expect(try template.render(["range": "r", "dict": 1]) == "r1")
        #expect(template.variables == ["range", "dict"])
    }

    @Test func lastOfEqualMembersCounts() throws {
        let value = JSONValue.object(JSONObject([("a", 1), ("b", 2), ("a", 3)]))
        #expect(try TextTemplate("{{ x }}", name: "t").render(["x": value]) == "{'a': 3, 'b': 2}")
    }

    /// Names that differ only in their Unicode form are different names.
    @Test func namesAreComparedByCodePoint() throws {
        let value: JSONValue = ["\u{E9}": 1, "e\u{301}": 2]
        let template = try TextTemplate("{{ x['\u{E9}'] }}{{ x['e\u{301}'] }}{{ x | length }}", name: "t")
        #expect(try template.render(["x": value]) == "122")
        let assigned = try TextTemplate(
            "{% set \u{E9} = 1 %}{% set e\u{301} = 2 %}{{ \u{E9} }}{{ e\u{301} }}", name: "t")
        #expect(try assigned.render([:]) == "12")
    }
}
