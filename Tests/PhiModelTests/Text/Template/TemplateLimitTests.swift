import Foundation
import JSON
import TestSupport
import Testing

@testable import PhiModel
@testable import PhiText

/// Templates that try to hang, to crash or to fill the memory: each must end with a clear error.
@Suite struct TemplateLimitTests {
    private func failure(_ source: String, _ fields: [String: JSONValue] = [:]) -> UserError? {
        modelError { _ = try TextTemplate(source, name: "prompt").render(fields) }
    }

    private func nested(_ count: Int, _ before: String, _ inner: String, _ after: String) -> String {
        String(repeating: before, count: count) + inner + String(repeating: after, count: count)
    }

    private static let runaways: [(source: String, says: String)] = [
        ("{{ range(1000000000000) | length }}", "'range' gives more than 100000 numbers"),
        ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "10000000 steps"),
        ("{% for a in range(99999) %}{{ 'x' * 1000 }}{% endfor %}", "a text grows beyond 67108864 bytes"),
        ("{{ 'ab' * 9223372036854775807 }}", "a text grows beyond"),
        ("{{ [0, 1] * 9223372036854775807 }}", "'*' repeats strings only"),
        ("{{ 1000000000000 * 1000000000000 }}", "too large for 64 bits"),
        ("{{ -(-9223372036854775807 - 1) }}", "too large for 64 bits"),
        ("{{ '99999999999999999999' | int }}", "too large for 64 bits"),
        ("{{ '1e300' | int }}", "too large for 64 bits"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "levels deep"),
        ("{% macro m(x=m()) %}{% endmacro %}{{ m() }}", "levels deep"),
        (
            "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
            "a text grows beyond"
        ),
        (
            "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s.replace('a', ns.s) %}"
                + "{% endfor %}", "steps"
        ),
        (
            "{% set ns = namespace(s=[1]) %}{% for i in range(999) %}{% set ns.s = [ns.s] %}{% endfor %}",
            "nested more than 128 levels deep"
        ),
        (
            "{% set ns = namespace(s={}) %}{% for i in range(999) %}{% set ns.s = {'a': ns.s} %}{% endfor %}",
            "lists and dicts are nested more than 128 levels deep"
        ),
        (
            "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
                + "{{ ns.s }}", "steps"
        ),
        (
            "{% set ns = namespace(s=[1], t=[1]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}"
                + "{% set ns.t = [ns.t, ns.t] %}{% endfor %}{{ ns.s == ns.t }}", "steps"
        ),
        (
            "{% set ns = namespace(s=[1]) %}{% for i in range(99) %}{% set ns.s = [ns.s, ns.s] %}{% endfor %}"
                + "{{ ns.s | tojson(indent=1000) }}", "a text grows beyond"
        ),
        ("{{ [1] | tojson(indent=1000000000) }}", "indent is larger than 1000"),
        ("{{ ('a' * 99999).replace('a', 'b' * 99999) }}", "a text grows beyond"),
        ("{{ range(99999) | map('string') | join('b' * 99999) }}", "a text grows beyond"),
        ("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns.x }}", "a namespace has no text"),
        ("{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns.x | tojson }}", "a namespace has no JSON"),
        (
            "{% set ns = namespace(s='ab') %}{% for i in range(30) %}{% set ns.s %}{{ ns.s }}{{ ns.s }}"
                + "{% endset %}{% endfor %}", "a text grows beyond"
        ),
    ]

    @Test(arguments: runaways) func runawayEnds(source: String, says: String) throws {
        let error = try #require(failure(source))
        #expect(error.kind == .badRequest)
        #expect(error.message.contains(says), "\(error.message)")
        #expect(error.message.hasPrefix("prompt, line 1: "))
    }

    /// What takes long because texts are long does not "run without end".
    @Test func longTextsAreSaidToBeLong() throws {
        let long: [String: JSONValue] = ["t": .string(String(repeating: "ab ", count: 3_000_000))]
        let error = try #require(
            failure("{{ t | upper | lower | upper | lower | upper | lower }}", long))
        #expect(error.message.contains("the line's fields are too long for it"), "\(error.message)")
        #expect(!error.message.contains("without end"))
        let loop = try #require(
            failure("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"))
        #expect(loop.message.contains("without end"), "\(loop.message)")
        // Copying is cheap: a chat template over as much is no fault.
        let text = try TextTemplate("{{ '<' + t + '>' + '!' }}{{ t }}", name: "t").render(long)
        #expect(text.utf8.count == 18_000_003)
    }

    /// Deep sources are refused while they are read, whatever nests.
    @Test(arguments: [
        ("(", "1", ")"), ("[", "", "]"), ("{'a': ", "1", "}"), ("not ", "1", ""), ("- ", "1", ""),
        ("1 + (", "1", ")"), ("x[", "1", "]"), ("x | default(", "1", ")"), ("1 if 1 else ", "1", ""),
        ("'a' ~ ", "'a'", ""), ("1 + ", "1", ""), ("1 ** ", "1", ""), ("1 or ", "1", ""),
        ("1 and not ", "1", ""), ("1 < ", "1", ""), ("", "x", ".a"),
        ("", "x", "[0]"), ("", "x", " | first"), ("", "x", "[1:]"), ("", "range", "(1)"), ("", "1", " if 1"),
    ])
    func deepExpression(before: String, inner: String, after: String) {
        for count in [50, 5000, 40000] {
            let source = "{{ \(nested(count, before, inner, after)) }}"
            // Shallow ones and flat chains may be fine; the point is that none overflows the stack.
            if let error = failure(source, ["x": "y"]) { #expect(error.kind != .missing) }
        }
    }

    @Test(arguments: [
        ("{% if 1 %}", "{% endif %}"), ("{% for x in [1] %}", "{% endfor %}"),
        ("{% macro m() %}", "{% endmacro %}"), ("{% set x %}", "{% endset %}"),
        ("{% generation %}", "{% endgeneration %}"),
        ("{% if 1 %}{% elif 1 %}", "{% endif %}"), ("{% set ((", "{% endset %}"),
        ("{% if 0 %}{% else %}", "{% endif %}"),
    ])
    func deepStatements(open: String, close: String) throws {
        for count in [1000, 30000] {
            let error = try #require(failure(nested(count, open, "", close)))
            #expect(error.kind == .unsupported || error.kind == .malformed)
        }
    }

    /// The deepest template that is accepted runs on less than the smallest stack that threads have, 512 KB.
    @Test func deepestFitsSmallStack() throws {
        let limits = TemplateLimits()
        var accepted = 0
        let sources: [(Int) -> String] = [
            { "{{ \(self.nested($0, "(1 + ", "1", ")")) }}" }, { "{{ \(self.nested($0, "[", "", "]")) }}" },
            { "{{ \(self.nested($0, "{1: ", "1", "}")) }}" },
            { "{{ \(self.nested($0, "1 or 1 and 1 < 1 + 1 ~ 1 * 1 * (", "1", ")")) }}" },
            { "{{ \(self.nested($0, "1 | default(", "1", ")")) }}" },
            { "{{ \(self.nested($0, "", "1", " | string")) }}" },
            { self.nested($0, "{% for x in [1] %}", "", "{% endfor %}") },
            { self.nested($0, "{% set x %}", "", "{% endset %}") },
            {
                let body = self.nested($0, "{% if 1 %}", "{{ 1 + (m(n) | trim | length) }}", "{% endif %}")
                return "{% macro m(n) %}\(body){% endmacro %}{{ m(1) }}"
            },
            { "{% macro m(n) %}{% for x in [1] if m(n) %}{% endfor %}{% endmacro %}{{ m(\($0)) }}" },
            {
                "{% set ns = namespace(x=[]) %}{% for i in range(\($0)) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}{{ ns.x | tojson }}{{ ns.x == ns.x }}"
            },
        ]
        for source in sources {
            for depth in 1...(limits.nesting + 1) {
                let text = source(depth)
                let ended = DispatchSemaphore(value: 0)
                let done = Flag()
                let thread = Thread {
                    done.value = (try? TextTemplate(text, name: "t").render([:])) != nil
                    ended.signal()
                }
                // The address sanitizer puts guards around everything on the stack.
                thread.stackSize = isSanitized ? 4 << 20 : 384 << 10
                thread.start()
                ended.wait()
                if done.value { accepted += 1 }
            }
        }
        #expect(accepted > 500)
    }

    private final class Flag: @unchecked Sendable {
        var value = false
    }

    /// Chains of references too long to free by recursion.
    @Test func longChainsAreFreed() throws {
        let chain =
            "{% set ns = namespace(x=none) %}{% for i in range(50000) %}{% set ns.x = namespace(x=ns.x) %}{% endfor %}ok"
        #expect(try TextTemplate(chain, name: "t").render([:]) == "ok")
        let macros =
            "{% set ns = namespace(f=none) %}{% macro m(g) %}{% macro inner() %}{{ g }}{% endmacro %}"
            + "{% set ns.f = inner %}{% endmacro %}{% for i in range(30000) %}{{ m(ns.f) }}{% endfor %}ok"
        #expect(try TextTemplate(macros, name: "t").render([:]) == "ok")
    }

    /// Searching and splitting stay linear on texts made to be hard.
    @Test func hardTextsAreLinear() throws {
        let many = String(repeating: "a", count: 1_000_000)
        let template = try TextTemplate(
            "{{ n in t }}{{ t.split(n) | length }}{{ t.replace(n, '') | length }}", name: "t")
        let needle = String(repeating: "a", count: 500_000) + "b"
        var text = ""
        let taken = try processorSeconds {
            text = try template.render(["t": .string(many), "n": .string(needle)])
        }
        #expect(text == "False11000000")
        #expect(taken < 5 * patience)
    }

    @Test func largeSourceIsRefused() throws {
        let error = try #require(failure(String(repeating: " ", count: 2 << 20)))
        #expect(error.kind == .unsupported)
        #expect(error.message.contains("larger than 1048576 bytes"))
    }

    @Test func deepInputIsRefused() throws {
        var value: JSONValue = 1
        for _ in 0..<500 { value = [value] }
        let error = try #require(failure("{{ x }}", ["x": value]))
        #expect(error.message.contains("128 levels deep"))
        #expect(try TextTemplate("{{ y }}", name: "t").render(["x": value, "y": 1]) == "1")
    }
}
